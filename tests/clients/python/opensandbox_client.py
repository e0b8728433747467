"""OpenSandbox's tools of `bulkhead mcp`, called as its clients call them.

    python opensandbox_client.py PROGRAM WORKSPACE
"""
import json
import os
import sys

import anyio
from cases import COUNTS, Case, skip
from mcp import Client, StdioServerParameters

PROGRAM, WORKSPACE = sys.argv[1:3]
UNKNOWN = ("Error executing tool {}: Sandbox not found in local registry. Call sandbox_connect or "
           "set connect_if_missing=True with connection parameters.")


def server():
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--workspace", WORKSPACE],
                                 env=dict(os.environ), cwd=WORKSPACE)


def text(result):
    return "\n".join(getattr(part, "text", "") for part in result.content)


class Sandbox:
    """A client and the id that its calls are about."""

    def __init__(self, client, sandbox_id=None):
        self.client, self.id = client, sandbox_id

    async def raw(self, tool, **arguments):
        return await self.client.call_tool(tool, {"sandbox_id": self.id, **arguments})

    async def __call__(self, tool, **arguments):
        result = await self.raw(tool, **arguments)
        assert not result.is_error, text(result)
        structured = result.structured_content
        if list(structured) == ["result"]:
            assert [json.loads(part.text) for part in result.content] == structured["result"]
        else:
            assert json.loads(text(result)) == structured
        return structured

    async def run(self, command, **more):
        return await self("command_run", command=command, **more)


def lines(execution, stream="stdout"):
    return [message["text"] for message in execution["logs"][stream]]


async def created(client):
    """A sandbox, or why none can be made."""
    steps = []

    async def on_progress(value, total, message):
        assert total == 1.0 and message
        steps.append(value)

    result = await client.call_tool(
        "sandbox_create", {"image": "host", "timeout_seconds": 300.5, "metadata": '{"a": "b"}'},
        progress_callback=on_progress)
    if result.is_error:
        return None, text(result)
    info = result.structured_content["info"]
    assert info["id"] == result.structured_content["sandbox_id"]
    assert info["status"]["state"] == "Running" and info["metadata"] == {"a": "b"}, info
    assert info["image"] == {"image": "host", "auth": None} and info["entrypoint"] == [], info
    assert steps and steps[-1] == 1.0 and steps == sorted(steps), steps
    assert result.meta["bulkhead/enforcement"]["rules"]
    return Sandbox(client, info["id"]), ""


async def commands(box):
    async with Case("commands: lines, exit codes, folders"):
        done = await box.run("printf 'a\\n\\nb\\n'; echo warn >&2")
        assert lines(done) == ["a", "\n", "b"] and lines(done, "stderr") == ["warn"], done
        assert done["exit_code"] == 0 and done["complete"] and done["error"] is None, done
        assert lines(await box.run("pwd", working_directory="/tmp")) == ["/tmp"]
        done = await box.run("exit 3")
        assert done["exit_code"] == 3 and done["error"]["value"] == "3", done
        done = await box.run("no-such-program")
        assert done["exit_code"] == 127 and "no-such-program" in "".join(lines(done, "stderr")), done
    async with Case("commands: in the background, and interrupted"):
        done = await box.run("echo begun >/tmp/begun; sleep 300; echo late >>/tmp/begun",
                             background=True)
        assert done["id"] and done["exit_code"] is None, done
        while not lines(await box.run("cat /tmp/begun 2>/dev/null")):
            await anyio.sleep(0.1)
        assert (await box("command_interrupt", execution_id=done["id"]))["status"] == "interrupted"
        assert lines(await box.run("cat /tmp/begun")) == ["begun"]


async def files(box):
    async with Case("files: written, read, replaced, moved, found, deleted"):
        await box("file_create_directories", entries='[{"path": "/tmp/d/e", "mode": 700}]')
        await box("file_write", path="/tmp/d/f.txt", content="å one one", mode=644)
        assert (await box("file_read", path="/tmp/d/f.txt"))["content"] == "å one one"
        part = await box("file_read", path="/tmp/d/f.txt", range_header="bytes=3-5")
        assert part["content"] == "one", part
        changed = await box("file_replace_contents", entries=[
            {"path": "/tmp/d/f.txt", "old_content": "one", "new_content": "two"}])
        assert changed["result"] == [{"path": "/tmp/d/f.txt", "replaced_count": 2}], changed
        await box("file_move", entries=[{"src": "/tmp/d/f.txt", "dest": "/tmp/d/e/g.txt"}])
        found = (await box("file_search", path="/tmp/d", pattern="*.txt"))["result"]
        assert len(found) == 1 and found[0]["path"] == "/tmp/d/e/g.txt", found
        assert found[0]["mode"] == 644 and found[0]["type"] == "file", found
        assert lines(await box.run("cat /tmp/d/e/g.txt")) == ["å two two"]
        await box("file_delete", paths=["/tmp/d/e/g.txt", "/tmp/d/nothing"])
        empty = await box.raw("file_search", path="/tmp/d", pattern="*.txt")
        assert empty.content == [] and empty.structured_content == {"result": []}
        await box("file_delete_directories", paths=["/tmp/d"])
        assert (await box.raw("file_read", path="/tmp/d/f.txt")).is_error


async def life(box):
    async with Case("life: list, renew, health, metrics"):
        listed = await box.client.call_tool("sandbox_list", {"filter": {"metadata": {"a": "b"}}})
        ids = [info["id"] for info in listed.structured_content["sandbox_infos"]]
        assert ids == [box.id], ids
        assert listed.structured_content["pagination"]["total_items"] == 1
        before = (await box("sandbox_get_info"))["expires_at"]
        after = (await box("sandbox_renew", timeout_seconds=3600))["expires_at"]
        assert after > before, (before, after)
        assert (await box("sandbox_healthcheck"))["healthy"]
        metrics = await box("sandbox_get_metrics")
        assert metrics["cpu_count"] > 0 and metrics["timestamp"] > 1e12, metrics


async def refusals(box):
    async with Case("refusals say why"):
        for arguments, word in (
                ({"image": "nonesuch:1"}, "nonesuch"), ({"image": "host", "colour": "red"}, "colour"),
                ({"image": "host", "resource": {"gpu": "1"}}, "gpu"), ({}, "image"),
                ({"image": "host", "auth_username": "u"}, "auth_password")):
            result = await box.client.call_tool("sandbox_create", arguments)
            assert result.is_error and word in text(result), (arguments, text(result))
            assert text(result).startswith("Error executing tool sandbox_create: "), text(result)
        other = Sandbox(box.client, "s-that-is-not")
        assert text(await other.raw("command_run", command="id")) == UNKNOWN.format("command_run")
        assert (await other.raw("sandbox_kill")).is_error
        assert (await box.raw("sandbox_healthcheck")).is_error is False


async def another_process(box):
    async with Case("another process has to connect, and sees the same files"):
        await box("file_write", path="/tmp/kept", content="still here")
        async with Client(server(), read_timeout_seconds=60) as client:
            there = Sandbox(client, box.id)
            answer = await there.raw("file_read", path="/tmp/kept")
            assert text(answer) == UNKNOWN.format("file_read"), text(answer)
            await there("sandbox_connect")
            assert (await there("file_read", path="/tmp/kept"))["content"] == "still here"


async def kill(box):
    async with Case("a sandbox that was killed is gone"):
        assert (await box("sandbox_kill"))["status"] == "killed"
        assert (await box.raw("sandbox_get_info")).is_error
        assert (await box.raw("sandbox_kill")).is_error


def finish():
    print("counts {passed} {failed} {skipped}".format(**COUNTS))
    return 1 if COUNTS["failed"] else 0


async def main():
    async with Case("a session", 300):
        async with Client(server(), read_timeout_seconds=60) as client:
            offered = [tool.name for tool in (await client.list_tools()).tools]
            if "sandbox_create" not in offered or "command_run" not in offered:
                skip("opensandbox", "this host lacks operations that OpenSandbox's tools need")
                return finish()
            box, reason = await created(client)
            for case in (commands, files, life, refusals, another_process, kill):
                if box is None:
                    skip(case.__name__, f"no sandbox can be made here: {reason}")
                else:
                    await case(box)
    return finish()


sys.exit(anyio.run(main))
