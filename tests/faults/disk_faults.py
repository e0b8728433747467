"""A full disk: a small tmpfs below the workspace, and one below DATA_ROOT. The error names the disk,
what was there before stands, and once there is room again the same call works."""
import ctypes
import os

import expect
from ways import Cli, Library, Mcp, Place

SIZE = 8 << 20


class SmallDisk:
    """A tmpfs of 8 MiB at that folder, in this machine's own mount table: needs root."""

    def __init__(self, folder):
        self.folder = folder
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        if os.geteuid() != 0:
            raise expect.Skip("mounting a small disk needs root")
        if self.libc.mount(b"small", self.folder.encode(), b"tmpfs", 0,
                           b"size=%d,mode=0700" % SIZE) != 0:
            raise expect.Skip(f"no tmpfs can be mounted here: {os.strerror(ctypes.get_errno())}")
        return self

    def __exit__(self, *_):
        self.libc.umount2(self.folder.encode(), 2)  # MNT_DETACH: whatever else went wrong

    def fill(self):
        path = os.path.join(self.folder, ".ballast")
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass
        try:
            with open(path, "ab", buffering=0) as file:
                while True:
                    file.write(b"\0")
        except OSError:
            pass

    def relieve(self):
        os.unlink(os.path.join(self.folder, ".ballast"))


def cases(place):
    for name in ("library", "cli", "mcp"):
        yield f"disk, the workspace is full: {name}", lambda name=name: workspace_full(place, name)
    for name in ("library", "cli", "mcp"):
        yield f"disk, DATA_ROOT is full: {name}", lambda name=name: data_root_full(place, name)


def with_call(place, name, body):
    if name != "mcp":
        return body((Library if name == "library" else Cli)(place).call)
    with Mcp(place) as mcp:
        body(mcp.call)
        expect.equal("the exit code at the end", mcp.close(), 0)


def workspace_full(place, name):
    with SmallDisk(os.path.join(place.top, f"small-{name}", "workspace")) as disk:
        small = Place(os.path.dirname(disk.folder), place.build)
        with_call(small, name, lambda call: full_files(call, disk))


def full_files(call, disk):
    big = "y" * (1 << 20)
    call("sandbox_files", {"operation": "write", "path": "kept.txt", "content": "old words"})
    disk.fill()
    for operation in ("write", "append"):
        expect.fault(lambda operation=operation: call(
            "sandbox_files", {"operation": operation, "path": "kept.txt", "content": big}),
            "RESOURCE_EXHAUSTED", "no_space")
    answer = call("sandbox_files", {"operation": "read", "path": "kept.txt"})
    if "old words" not in str(answer):
        raise AssertionError(f"the old content is gone: {str(answer)[:300]}")
    expect.equal("what lies in the folder", sorted(
        entry for entry in os.listdir(disk.folder)), [".ballast", "kept.txt"])
    disk.relieve()
    call("sandbox_files", {"operation": "write", "path": "kept.txt", "content": "new words"})


def data_root_full(place, name):
    top = os.path.join(place.top, f"small-data-{name}")
    with SmallDisk(os.path.join(top, "data")) as disk:
        small = Place(top, place.build)
        with_call(small, name, lambda call: full_state(call, disk))


def full_state(call, disk):
    made = call("sandbox_create", {"image": "host"})
    disk.fill()
    expect.fault(lambda: call("sandbox_create", {"image": "host"}), "RESOURCE_EXHAUSTED",
                 says=("full",))
    disk.relieve()
    listed = str(call("sandbox_list", {}))
    for one in ids(made):
        if one not in listed:
            raise AssertionError(f"the sandbox {one} is lost: {listed[:500]}")
    expect.equal("how many sandboxes there are", len(set(ids(listed))), 1)
    call("sandbox_create", {"image": "host"})


def ids(answer):
    import re
    return re.findall(r"\bs-[0-9a-f]{20}\b", str(answer))
