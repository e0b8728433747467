"""Paths that lead out: said in the path, by a link that lies there, by one that is swapped in while
the host works. Nothing outside may be read or changed; what is inside goes on working."""
import os
import threading
import time

import expect
from ways import Cli, Fault, Library, Mcp

SECRET = "the words outside"


def cases(place):
    outside = os.path.join(place.top, "outside")
    os.makedirs(outside, exist_ok=True)
    with open(os.path.join(outside, "secret.txt"), "w", encoding="utf-8") as file:
        file.write(SECRET)
    # Hidden from every sandbox: where Bulkhead keeps its own.
    hidden = os.path.join(place.data, "state")
    for way in (Library(place), Cli(place)):
        yield f"paths, DATA_ROOT by name: {way.name}", lambda way=way: refused(way.call, hidden)
        yield f"paths, DATA_ROOT by ..: {way.name}", lambda way=way: refused(
            way.call, os.path.join("..", "data", "state"))
        yield f"paths, DATA_ROOT by a link: {way.name}", lambda way=way: by_link(place, way.call, hidden)
        yield f"paths, writing outside: {way.name}", lambda way=way: outside_is_safe(way.call, outside)
        yield f"paths, links swapped meanwhile: {way.name}", lambda way=way: swapped(
            place, way.call, outside)
    yield "paths, DATA_ROOT by name: mcp", lambda: over_mcp(place, lambda c: refused(c, hidden))
    yield "paths, DATA_ROOT by a link: mcp", lambda: over_mcp(
        place, lambda c: by_link(place, c, hidden))
    yield "paths, writing outside: mcp", lambda: over_mcp(
        place, lambda c: outside_is_safe(c, outside))
    yield "paths, links swapped meanwhile: mcp", lambda: over_mcp(
        place, lambda c: swapped(place, c, outside), patience=4)


def over_mcp(place, body, patience=None):
    del patience
    with Mcp(place) as mcp:
        body(mcp.call)
        expect.equal("the exit code at the end", mcp.close(), 0)


def refused(call, path):
    # What refuses everything would pass what follows.
    call("sandbox_files", {"operation": "list", "path": "."})
    expect.fault(lambda: call("sandbox_files", {"operation": "list", "path": path}),
                 ("NOT_FOUND", "PERMISSION_DENIED", "INVALID_ARGUMENT"))
    expect.fault(lambda: call("sandbox_files", {"operation": "read",
                                                "path": os.path.join(path, "bulkhead.db")}),
                 ("NOT_FOUND", "PERMISSION_DENIED", "INVALID_ARGUMENT"))


def by_link(place, call, target):
    link = os.path.join(place.workspace, "way-out")
    if not os.path.islink(link):
        os.symlink(target, link)
    refused(call, "way-out")
    os.unlink(link)


def outside_is_safe(call, outside):
    """The rest of the host may be seen, but nothing of it written."""
    path = os.path.join(outside, "secret.txt")
    for operation in ("write", "append", "delete"):
        expect.fault(lambda operation=operation: call(
            "sandbox_files", {"operation": operation, "path": path, "content": "mine now"}
            if operation != "delete" else {"operation": operation, "path": path}),
            ("PERMISSION_DENIED", "FAILED_PRECONDITION", "NOT_FOUND"))
    unharmed(outside)


def unharmed(outside):
    with open(os.path.join(outside, "secret.txt"), encoding="utf-8") as file:
        expect.equal("the file outside", file.read(), SECRET)
    expect.equal("the folder outside", os.listdir(outside), ["secret.txt"])


def swapped(place, call, outside):
    """`there` is a folder and a link to the outside in turn while files are written below it."""
    stop = threading.Event()
    folder = os.path.join(place.workspace, "there")

    def swap():
        spare = folder + ".spare"
        while not stop.is_set():
            os.makedirs(folder, exist_ok=True)
            time.sleep(0.001)
            os.rename(folder, spare)
            os.symlink(outside, folder)
            time.sleep(0.001)
            os.unlink(folder)
            os.rename(spare, folder)

    thread = threading.Thread(target=swap)
    thread.start()
    written = 0
    try:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            for arguments in ({"operation": "write", "path": "there/secret.txt", "content": "mine"},
                              {"operation": "delete", "path": "there/secret.txt"}):
                try:
                    call("sandbox_files", arguments)
                    written += 1
                except Fault as fault:
                    if fault.code not in ("PERMISSION_DENIED", "NOT_FOUND", "FAILED_PRECONDITION"):
                        raise
    finally:
        stop.set()
        thread.join()
    unharmed(outside)
    call("sandbox_files", {"operation": "write", "path": "there/after.txt", "content": "after"})
