"""No bubblewrap, or one that cannot start a sandbox: said with the way to mend it; nothing runs
unisolated in its place."""
import os

import expect
from ways import Cli, Library, Mcp, Place


def cases(place):
    empty = os.path.join(place.top, "empty-path")
    broken = os.path.join(place.top, "broken-path")
    os.makedirs(empty, exist_ok=True)
    os.makedirs(broken, exist_ok=True)
    program = os.path.join(broken, "bwrap")
    with open(program, "w", encoding="utf-8") as file:
        # It has every option, but the kernel's settings refuse it.
        file.write('#!/bin/sh\ncase "$1" in --help|--version) exec bwrap "$1" ;; esac\n'
                   "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    os.chmod(program, 0o755)
    for label, path, says in (
            ("no bwrap", os.path.join(empty, "bwrap"), ("bubblewrap",)),
            ("a bwrap that cannot", program, ("user namespaces",))):
        config = {"isolation": {"backend": "bwrap", "config": {"bwrap": {"bwrap": path}}}}
        there = Place(os.path.join(place.top, label.replace(" ", "-")), place.build, config)
        for way in (Library(there), Cli(there)):
            yield f"backend, {label}: {way.name}", lambda way=way, says=says: refused(way.call, says)
        yield f"backend, {label}: mcp", lambda there=there, says=says: over_mcp(there, says)
        yield f"backend, {label}: nothing ran in its place", lambda there=there: untouched(there)
    yield "backend, process without the operator's word: library", lambda: expect.fault(
        lambda: Library(place).operation("sandbox.exec", {"argv": ["true"], "backend": "process"}),
        "PERMISSION_DENIED", "backend_not_permitted", says=("allow_unisolated",))
    yield "backend, process without the operator's word: cli", lambda: refused_run(place)


def refused(call, says):
    expect.fault(lambda: call("sandbox_execute", {"language": "bash", "code": "touch ran"}),
                 ("FAILED_PRECONDITION", "UNAVAILABLE", "NOT_FOUND"), None, None, says)


def over_mcp(place, says):
    with Mcp(place) as mcp:
        refused(mcp.call, says)
        expect.equal("the exit code at the end", mcp.close(), 0)


def untouched(place):
    expect.equal("the workspace", os.listdir(place.workspace), [])


def refused_run(place):
    code, _, err = Cli(place).run("run", "--backend", "process", "--", "touch", "ran")
    expect.equal("the exit code", code, 125)
    if b"allow_unisolated" not in err:
        raise AssertionError(f"it does not say what would permit it: {err!r}")
    expect.equal("the workspace", os.path.exists(os.path.join(place.workspace, "ran")), False)
