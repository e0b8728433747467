"""The Python SDK's client against the ten-line tool of samples/embed_python: a server that is an
embedder's own process.

    python tool_client.py PROGRAM WORKSPACE
"""
import os
import pathlib
import sys

import anyio
from cases import COUNTS, Case
from mcp import Client, StdioServerParameters

PROGRAM, WORKSPACE = (pathlib.Path(path) for path in sys.argv[1:3])
TOP = pathlib.Path(__file__).resolve().parents[3]


def server():
    env = dict(os.environ, PYTHONPATH=str(TOP / "sdk" / "python"), PYTHONDONTWRITEBYTECODE="1",
               BULKHEAD_LIBRARY=str(PROGRAM.parents[1] / "lib" / "libbulkhead.so"))
    return StdioServerParameters(command=sys.executable, env=env, cwd=str(WORKSPACE),
                                 args=[str(TOP / "samples" / "embed_python" / "tool.py")])


async def main():
    async with Case("a tool in ten lines of Python"):
        async with Client(server(), read_timeout_seconds=60) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "area" in names and "command_run" in names, names
            result = await client.call_tool("area", {"width": 2.5, "height": 4})
            assert result.structured_content == {"result": 10.0}, result
            result = await client.call_tool("area", {"width": "wide", "height": 4})
            assert result.is_error and "width" in result.content[0].text, result
    async with Case("it is called many times at once"):
        async with Client(server(), read_timeout_seconds=60) as client:
            async with anyio.create_task_group() as group:
                async def call(side):
                    result = await client.call_tool("area", {"width": side, "height": side})
                    assert result.structured_content == {"result": float(side * side)}, result
                for side in range(50):
                    group.start_soon(call, side)
    print("counts {passed} {failed} {skipped}".format(**COUNTS))
    return 1 if COUNTS["failed"] else 0


sys.exit(anyio.run(main))
