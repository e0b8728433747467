"""A plugin that ends the process. In its entry: a child process finds out before the host loads a
foreign one for the first time, and the host goes on without it. In a call: nobody can catch that in
the same process, so the process ends by that signal; but what it ran ends too, and nothing is lost."""
import os
import signal

import expect
from ways import Broken, Cli, Library, Mcp, Place


def cases(place):
    broken = os.path.join(place.build, "tests/broken")
    for name in ("crashes", "crashes_at_load"):
        folder = os.path.join(broken, name)
        there = Place(os.path.join(place.top, name), place.build, plugins(folder))
        for way in (Library, Cli, Mcp):
            yield f"crash, a plugin that {name}: {way.name}", lambda there=there, way=way, name=name: (
                entry(there, way, name))
    folder = os.path.join(place.build, "tests/faults/plugins")
    there = Place(os.path.join(place.top, "in-a-call"), place.build, plugins(folder))
    for way in (Library, Cli, Mcp):
        yield f"crash, in a call: {way.name}", lambda way=way: in_a_call(there, way, folder)


def plugins(folder):
    return {"plugins": {"path": [folder]}}


def needs(folder):
    if not os.path.isdir(folder):
        raise AssertionError(f"{folder} was not built")


def entry(place, way, name):
    needs(place.config["plugins"]["path"][0])
    text = {"language": "bash", "code": "echo alive"}
    if way is Mcp:
        with Mcp(place) as mcp:
            answer = mcp.call("sandbox_execute", text)
            expect.equal("the exit code at the end", mcp.close(), 0)
    else:
        answer = way(place).call("sandbox_execute", text)
    if "alive" not in str(answer):
        raise AssertionError(f"the host does not work beside it: {answer}")
    code, out, _ = Cli(place).run("plugins", "--json")
    if name.encode() not in out and code == 0:
        raise AssertionError(f"the load report does not name it: {out!r}")


def in_a_call(place, way, folder):
    needs(folder)
    cli = Cli(place)
    still_there = expect.lasting(place, cli)
    arguments = {"seconds": 0}
    try:
        if way is Mcp:
            mcp = Mcp(place)
            # Something of its own runs in a sandbox when it dies.
            mcp.send({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {
                "name": "sandbox_execute", "arguments": {"language": "bash", "code": "sleep 300"}}})
            mcp.call("crash", arguments)
        else:
            way(place).call("crash", arguments)
        raise AssertionError("it did not crash")
    except Broken:
        pass
    if way is Mcp:
        expect.equal("how the server ended", mcp.child.wait(timeout=20), -signal.SIGSEGV)
    expect.nothing_left()
    still_there()
    listed = str(cli.call("sandbox_list", {}))
    if "making" in listed or "Pending" in listed:
        raise AssertionError(f"half-made sandboxes: {listed}")
