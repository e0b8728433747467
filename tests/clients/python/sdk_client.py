"""The Python SDK's client against `bulkhead mcp`.

    python sdk_client.py PROGRAM WORKSPACE
"""
import os
import pathlib
import secrets
import sys
import warnings

import anyio
from cases import COUNTS, Case, skip
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters

# Ping and logging are gone from revisions that this server does not speak yet.
warnings.simplefilter("ignore", MCPDeprecationWarning)

PROGRAM, WORKSPACE = sys.argv[1:3]


def server():
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--workspace", WORKSPACE],
                                 env=dict(os.environ), cwd=WORKSPACE)


def said(result):
    return "\n".join(getattr(part, "text", "") for part in result.content)


async def fails(code, awaitable):
    try:
        await awaitable
    except MCPError as error:
        assert error.code == code, (error.code, error.message)
        return
    raise AssertionError(f"it succeeded; error {code} was expected")


async def until(test, limit=20):
    with anyio.move_on_after(limit):
        while not test():
            await anyio.sleep(0.05)
        return True
    return False


async def without_sandbox(client):
    async with Case("tools are listed"):
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert "sandbox_execute" in names, names
        execute = tools[names.index("sandbox_execute")]
        assert execute.input_schema["type"] == "object"
        assert execute.annotations.destructive_hint is True
    async with Case("ping and logging"):
        await client.send_ping()
        await client.set_logging_level("debug")
    async with Case("errors carry their codes"):
        await fails(-32602, client.call_tool("no_such_tool", {}))
        await fails(-32602, client.list_tools(cursor="nonsense"))
        await fails(-32601, client.list_resources())
    async with Case("a bad argument is a result that names it"):
        result = await client.call_tool("sandbox_execute", {"code": "1", "colour": "red"})
        assert result.is_error and "colour" in said(result), said(result)
        assert result.meta["bulkhead/fault"]["code"] == "INVALID_ARGUMENT"


async def code_runs(client):
    async with Case("code runs and its answer is structured"):
        result = await client.call_tool("sandbox_execute", {"code": "print(6 * 7)"})
        assert not result.is_error and "42" in said(result).split(), said(result)
        assert isinstance(result.structured_content, dict)


async def progress(client):
    async with Case("progress grows and carries the output"):
        seen = []

        async def on_progress(value, total, message):
            seen.append((value, message or ""))

        await client.call_tool("sandbox_run", {
            "argv": ["sh", "-c", "for i in 1 2 3 4; do echo line $i; sleep 0.3; done"],
            "stream": True}, progress_callback=on_progress)
        values = [value for value, _ in seen]
        assert len(values) >= 2 and values == sorted(set(values)), seen
        assert "line 4" in "".join(message for _, message in seen), seen


async def side_by_side(client):
    async with Case("a slow call holds nobody back"):
        order = []

        async def timed(name, seconds):
            await client.call_tool("sandbox_run", {"argv": ["sleep", seconds]})
            order.append(name)

        async with anyio.create_task_group() as group:
            group.start_soon(timed, "slow", "4")
            await anyio.sleep(0.2)
            group.start_soon(timed, "quick", "0")
        assert order == ["quick", "slow"], order


async def cancellation(client):
    async with Case("a cancelled call is stopped, with what it started"):
        beat = pathlib.Path(WORKSPACE, "beat-" + secrets.token_hex(6))
        code = f"(while :; do echo x >>{beat.name}; sleep 0.05; done) & wait"
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "sandbox_execute",
                             {"code": code, "language": "bash"})
            assert await until(beat.exists), "it did not begin"
            group.cancel_scope.cancel()
        sizes = [-1, -2]

        async def still():
            for _ in range(25):
                sizes.append(beat.stat().st_size)
                if sizes[-1] == sizes[-2] == sizes[-3]:
                    return True
                await anyio.sleep(0.4)
            return False

        assert await still(), "it still writes"
        result = await client.call_tool("sandbox_execute", {"code": "print('on')"})
        assert "on" in said(result), said(result)


async def no_sandbox_because(client):
    result = await client.call_tool("sandbox_run", {"argv": ["true"]})
    fault = (result.meta or {}).get("bulkhead/fault", {})
    lacking = ("UNAVAILABLE", "FAILED_PRECONDITION", "NOT_FOUND")
    return fault["message"] if fault.get("code") in lacking else ""


async def main():
    # As it comes it asks for a newer revision first, and has to find its way back.
    for mode in ("auto", "legacy"):
        async with Case(f"initialize, {mode}"):
            async with Client(server(), mode=mode) as client:
                assert client.server_info.name == "bulkhead"
                assert client.protocol_version == "2025-11-25", client.protocol_version
                assert client.instructions
    async with Case("a session", 300):
        async with Client(server(), read_timeout_seconds=60) as client:
            await without_sandbox(client)
            reason = await no_sandbox_because(client)
            for case in (code_runs, progress, side_by_side, cancellation):
                if reason:
                    skip(case.__name__, f"no sandbox can be made here: {reason}")
                else:
                    await case(client)
    print("counts {passed} {failed} {skipped}".format(**COUNTS))
    return 1 if COUNTS["failed"] else 0


sys.exit(anyio.run(main))
