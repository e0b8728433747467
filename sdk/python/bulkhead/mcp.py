"""The MCP server of the program `bulkhead mcp`, in this process: its clients see the tools of the
plugins and those that were defined with @session.tool."""
import os
import sys
import threading
from ctypes import CDLL, POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, List, Optional, Tuple

from . import _library as L
from .errors import FailedPrecondition, InvalidArgument, error_for
from .session import Session

# host/include/bulkhead/mcp.h; a test compares.
PROTOTYPES = {
    "bh_mcp_serve": (c_int32, [c_void_p, c_char_p, c_size_t, c_int64, c_int64, c_int64,
                               POINTER(c_void_p)]),
}
SENTENCES = {
    4: "a tool did not end within 10 s of the client's end, and was left behind",
    8: "no file descriptor is left; close some, or raise the limit of open files",
}
_loaded: Optional[CDLL] = None


def _library() -> CDLL:
    global _loaded
    if _loaded is None:
        L.library()  # the one that this one needs
        loaded = L.load("libbulkhead_mcp.so")
        for name, (returns, takes) in PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = returns, takes
        _loaded = loaded
    return _loaded


def serve(session: Session, in_fd: int = 0, out_fd: int = 1) -> None:
    """Serves one client on two file descriptors (stdin and stdout) until it closes its end, as
    `bulkhead mcp` does; Ctrl-C ends it in good order.

    Where it serves stdout, print() goes to stderr from then on, so that nothing comes between the
    messages. Raises DeadlineExceeded where a tool did not stop at the end, and what the session
    raises.
    """
    if session._lent:
        raise FailedPrecondition("a session that an ask lent ends with it; serve one of your own",
                                 {"reason": "lent_session"})
    for name, fd in (("in_fd", in_fd), ("out_fd", out_fd)):
        try:
            os.fstat(fd)
        except OSError:
            raise InvalidArgument(f"{name} is {fd}, which is not open", {"field": name}) from None
    session._handle.raw  # raises where it is closed
    runtime = session._runtime.raw
    library = _library()
    lib = session._lib
    for stream in (sys.stdout, sys.stderr):  # what was printed until now goes where it was meant to go
        if stream is not None:
            stream.flush()
    stop_read, stop_write = os.pipe()
    ended: List[Tuple[int, Any]] = []
    config = L.packed(L.dumps({"operator": True} if session.name == "operator" else
                              {"persona": session.name}))

    def work() -> None:
        fault = c_void_p()
        status = library.bh_mcp_serve(runtime, *config, in_fd, out_fd, stop_read, byref(fault))
        if status and not fault:  # the codes say all there is
            ended.append((status, error_for(status, SENTENCES.get(status, "the MCP server failed"), {})))
        else:
            ended.append((status, lib.error(fault, status) if status else None))
        lib.bh_fault_free(fault)

    # Beside the main thread, so that a signal finds that one in Python.
    thread = threading.Thread(target=work, name="bulkhead-mcp", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.5)
    except KeyboardInterrupt:
        os.write(stop_write, b"!")
        thread.join(15)
    finally:
        if not thread.is_alive():
            os.close(stop_read)
            os.close(stop_write)
    if ended and ended[0][0] != 0:
        raise ended[0][1]
