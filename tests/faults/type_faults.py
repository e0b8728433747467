"""Wrong types, missing and unknown arguments, values out of range: the same words over each way."""
import expect
from ways import Cli, Library, Mcp

ROWS = [
    # tool, arguments, field of the tool's arguments, words
    ("sandbox_execute", {"language": "bash", "code": 5}, "/code", ("string",)),
    ("sandbox_execute", {"language": "cobol", "code": "x"}, "/language", ("python",)),
    ("sandbox_execute", {"language": "bash"}, "/code", ()),
    ("sandbox_execute", {"language": "bash", "cod": "x", "code": "x"}, "/cod", ("code",)),
    ("sandbox_files", {"operation": "burn", "path": "a"}, "/operation", ("read",)),
    ("sandbox_files", {"operation": "read", "path": {"a": 1}}, "/path", ("string",)),
    ("command_run", {"sandbox_id": 7, "command": "true"}, "/sandbox_id", ("string",)),
    ("sandbox_create", {}, "/image", ()),
    ("sandbox_create", {"image": "host", "timeout_seconds": "soon"}, "/timeout_seconds", ("number",)),
    ("sandbox_create", {"image": "host", "resource": {"gpu": "1"}}, "/resource/gpu", ("memory",)),
    ("file_move", {"sandbox_id": "s", "entries": [{"source": "a"}]}, "/entries/0/destination", ()),
    ("sandbox_get_endpoint", {"sandbox_id": "s", "port": 70000}, "/port", ("65535",)),
    ("sandbox_install", {"packages": "numpy\x00"}, "/packages", ()),
]


def cases(place):
    ways = [Library(place), Cli(place)]
    for tool, arguments, field, says in ROWS:
        label = f"types, {tool} {field}"
        for way in ways:
            yield f"{label}: {way.name}", lambda way=way, row=(tool, arguments, field, says): check(
                way.call, *row)
        yield f"{label}: mcp", lambda row=(tool, arguments, field, says): over_mcp(place, *row)


def check(call, tool, arguments, field, says):
    found = expect.fault(lambda: call(tool, arguments), "INVALID_ARGUMENT", None, None, says)
    # The library's field is that of tool.call's arguments, which hold the tool's.
    if not found.field.endswith(field):
        raise AssertionError(f"the field is {found.field!r}, not {field!r}: {found.message}")


def over_mcp(place, tool, arguments, field, says):
    with Mcp(place) as mcp:
        check(mcp.call, tool, arguments, field, says)
        expect.equal("the exit code at the end", mcp.close(), 0)
