"""What is not there: tools, operations, sandboxes, jobs, backends, images, and what is another's."""
import expect
from ways import Cli, Fault, Library, Mcp

ROWS = [
    # name, tool, arguments, code
    ("sandbox", "sandbox_kill", {"sandbox_id": "s-none"}, "NOT_FOUND"),
    ("sandbox of a command", "command_run",
     {"sandbox_id": "s-none", "command": "true", "connect_if_missing": True}, "NOT_FOUND"),
    ("image", "sandbox_create", {"image": "ubuntu:99"}, "NOT_FOUND"),
    ("file", "sandbox_files", {"operation": "read", "path": "none.txt"}, "NOT_FOUND"),
    ("command", "command_interrupt",
     {"sandbox_id": "s-none", "execution_id": "x-1", "connect_if_missing": True}, "NOT_FOUND"),
]


def cases(place):
    library, cli = Library(place), Cli(place)
    for name, tool, arguments, code in ROWS:
        for way in (library, cli):
            yield f"unknown {name}: {way.name}", lambda way=way, row=(tool, arguments, code): (
                expect.fault(lambda: way.call(row[0], row[1]), row[2]))
        yield f"unknown {name}: mcp", lambda row=(tool, arguments, code): over_mcp(place, *row)
    yield "unknown tool: library", lambda: expect.fault(
        lambda: library.call("sandbox_exekute", {}), "NOT_FOUND", says=("sandbox_execute",))
    yield "unknown tool: cli", lambda: expect.fault(
        lambda: cli.call("sandbox_exekute", {}), "NOT_FOUND", says=("sandbox_execute",))
    yield "unknown tool: mcp", lambda: unknown_tool(place)
    yield "unknown operation: library", lambda: expect.fault(
        lambda: library.operation("sandbox.exek", {}), "NOT_FOUND", says=("sandbox.exec",))
    yield "unknown method: mcp", lambda: unknown_method(place)
    yield "another persona's sandbox: library", lambda: anothers(library)
    yield "another persona's sandbox: cli", lambda: anothers(cli)
    yield "another persona's sandbox: mcp", lambda: anothers_over_mcp(place)
    yield "unknown backend: library", lambda: expect.fault(
        lambda: library.operation("sandbox.exec", {"argv": ["true"], "backend": "vault"}),
        "NOT_FOUND", says=("bwrap",))


def over_mcp(place, tool, arguments, code):
    with Mcp(place) as mcp:
        expect.fault(lambda: mcp.call(tool, arguments), code)
        expect.equal("the exit code at the end", mcp.close(), 0)


def unknown_tool(place):
    with Mcp(place) as mcp:
        answer = mcp.request("tools/call", {"name": "sandbox_exekute", "arguments": {}})
        expect.equal("the code", answer.get("error", {}).get("code"), -32602)
        if "sandbox_exekute" not in answer["error"]["message"]:
            raise AssertionError(f"it does not name the tool: {answer}")


def unknown_method(place):
    with Mcp(place) as mcp:
        answer = mcp.request("tools/burn", {})
        expect.equal("the code", answer.get("error", {}).get("code"), -32601)


def made_by(call, persona):
    """The id of a sandbox of that persona's."""
    return str(call("sandbox_create", {"image": "host"}, persona))


def same_as_absent(call, sandbox):
    """Another's id and one that never was come to the same words but for the id."""
    found = expect.fault(lambda: call("sandbox_get_info", {"sandbox_id": sandbox}), "NOT_FOUND")
    absent = expect.fault(lambda: call("sandbox_get_info", {"sandbox_id": "s-" + "0" * 20}),
                          "NOT_FOUND")
    expect.equal("what is said of another's", found.message.replace(sandbox, "ID"),
                 absent.message.replace("s-" + "0" * 20, "ID"))


def sandbox_of(answer):
    structured = find(answer, "sandbox_id")
    if not structured:
        raise AssertionError(f"no sandbox_id in {answer}")
    return structured


def find(value, key):
    if isinstance(value, dict):
        if isinstance(value.get(key), str):
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            found = find(each, key)
            if found:
                return found
    return None


def anothers(way):
    sandbox = sandbox_of(way.call("sandbox_create", {"image": "host"}, "alice"))
    try:
        same_as_absent(lambda tool, args: way.call(tool, args, "bob"), sandbox)
        expect.fault(lambda: way.call("sandbox_kill", {"sandbox_id": sandbox}, "bob"), "NOT_FOUND")
    finally:
        way.call("sandbox_kill", {"sandbox_id": sandbox}, "alice")


def anothers_over_mcp(place):
    with Mcp(place, "alice") as alice, Mcp(place, "bob") as bob:
        sandbox = sandbox_of(alice.call("sandbox_create", {"image": "host"}))
        same_as_absent(bob.call, sandbox)
        try:
            bob.call("command_run", {"sandbox_id": sandbox, "command": "true",
                                     "connect_if_missing": True})
            raise AssertionError("bob ran a command in alice's sandbox")
        except Fault as fault:
            expect.equal("the code", fault.code, "NOT_FOUND")
        alice.call("sandbox_kill", {"sandbox_id": sandbox})
