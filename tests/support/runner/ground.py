"""Where sandboxes' files lie while they are tested. Started by root they belong to ids of the sandbox's own,
which not every file system can show: an overlay, as containers have for their root, cannot. There the
tests' folder becomes a tmpfs, in a mount namespace of this process's that goes with it."""
import ctypes
import os

CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
OVERLAYFS = 0x794C7630


def _type_of(path):
    """statfs's f_type."""
    buffer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None, use_errno=True).statfs(path.encode(), buffer) != 0:
        return 0
    return ctypes.c_long.from_buffer(buffer).value


def prepare(build_folders):
    """Says so when it could not be done; the tests that need it are skipped then, with their reason."""
    if os.geteuid() != 0 or _type_of(".") != OVERLAYFS:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source, target, kind, flags, options=None):
        return libc.mount(source, target.encode(), kind, ctypes.c_ulong(flags), options) == 0

    done = libc.unshare(CLONE_NEWNS) == 0 and mount(None, "/", None, MS_REC | MS_PRIVATE)
    for folder in build_folders if done else []:
        scratch = os.path.join(folder, "tests", "scratch")
        os.makedirs(scratch, exist_ok=True)
        done = mount(b"tmpfs", scratch, b"tmpfs", 0, b"mode=1777") and done
    if not done:
        print("this tree lies on an overlay, and no tmpfs can be mounted beside it: "
              f"{os.strerror(ctypes.get_errno())}", flush=True)
