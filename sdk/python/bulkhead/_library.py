"""Finds libbulkhead, declares every function of bulkhead/host.h to ctypes, and turns codes into
exceptions. Nothing else of this package calls ctypes with a name that is not in PROTOTYPES; a test
compares the table with the header."""
import ctypes
import glob
import json
import os
from ctypes import (POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p, string_at)
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .errors import BulkheadError, InvalidArgument, error_for

HOST_VERSION = 0x000100  # BH_HOST_VERSION of the header that PROTOTYPES mirrors
ENV = "BULKHEAD_LIBRARY"

_size = POINTER(c_size_t)
_fault = POINTER(c_void_p)  # bh_fault **, and every other place for a handle
_text = (c_char_p, c_size_t)

# name: (what it returns, its parameters). Handles are c_void_p; text that comes back is c_void_p
# too, since its length stands beside it and a c_char_p would stop at the first NUL.
PROTOTYPES: Dict[str, Tuple[Any, List[Any]]] = {
    "bh_version": (c_uint32, []),
    "bh_version_text": (c_char_p, []),
    "bh_plugin_abi": (c_uint32, []),
    "bh_fault_code": (c_int32, [c_void_p]),
    "bh_fault_message": (c_void_p, [c_void_p, _size]),
    "bh_fault_details": (c_void_p, [c_void_p, _size]),
    "bh_fault_free": (None, [c_void_p]),
    "bh_runtime_new": (c_int32, [*_text, _fault, _fault]),
    "bh_runtime_close": (c_int32, [c_void_p, c_int32, _fault]),
    "bh_runtime_free": (None, [c_void_p]),
    "bh_session_new": (c_int32, [c_void_p, *_text, _fault, _fault]),
    "bh_session_free": (None, [c_void_p]),
    "bh_queue_new": (c_int32, [c_void_p, _fault, _fault]),
    "bh_queue_next": (c_int32, [c_void_p, c_int32, _fault, _fault]),
    "bh_queue_fd": (c_int64, [c_void_p]),
    "bh_queue_wake": (None, [c_void_p]),
    "bh_queue_free": (None, [c_void_p]),
    "bh_request_new": (c_int32, [*_text, _fault, _fault]),
    "bh_request_args": (c_int32, [c_void_p, *_text, _fault]),
    "bh_request_attach": (c_int32, [c_void_p, *_text, *_text, c_void_p, c_size_t, _fault]),
    "bh_request_timeout": (c_int32, [c_void_p, c_int64, _fault]),
    "bh_request_input": (c_int32, [c_void_p, _fault]),
    "bh_request_free": (None, [c_void_p]),
    "bh_start": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, _fault, _fault]),
    "bh_do": (c_int32, [c_void_p, c_void_p, c_void_p, c_uint64, _fault]),
    "bh_run_send": (c_int32, [c_void_p, c_void_p, c_size_t, _size, _fault]),
    "bh_run_send_end": (c_int32, [c_void_p, _fault]),
    "bh_run_cancel": (None, [c_void_p]),
    "bh_run_free": (None, [c_void_p]),
    "bh_event_kind": (c_int32, [c_void_p]),
    "bh_event_tag": (c_uint64, [c_void_p]),
    "bh_event_id": (c_uint64, [c_void_p]),
    "bh_event_time_ns": (c_int64, [c_void_p]),
    "bh_event_stream": (c_int32, [c_void_p]),
    "bh_event_name": (c_void_p, [c_void_p, _size]),
    "bh_event_type": (c_void_p, [c_void_p, _size]),
    "bh_event_data": (c_void_p, [c_void_p, _size]),
    "bh_event_fault": (c_void_p, [c_void_p]),
    "bh_event_ask": (c_void_p, [c_void_p]),
    "bh_event_free": (None, [c_void_p]),
    "bh_serve": (c_int32, [c_void_p, *_text, c_void_p, c_uint64, _fault, _fault]),
    "bh_server_free": (None, [c_void_p]),
    "bh_ask_id": (c_uint64, [c_void_p]),
    "bh_ask_emit": (c_int32, [c_void_p, c_int32, c_void_p, c_size_t, _size, _fault]),
    "bh_ask_attach": (c_int32, [c_void_p, *_text, *_text, c_void_p, c_size_t, _fault]),
    "bh_ask_result": (c_int32, [c_void_p, *_text, _fault]),
    "bh_ask_fail": (c_int32, [c_void_p, c_int32, *_text, *_text, _fault]),
    "bh_ask_session": (c_int32, [c_void_p, _fault, _fault]),
    "bh_ask_free": (None, [c_void_p]),
}

# Constants of base.h and host.h that this package uses.
EVENT_OUTPUT, EVENT_PROGRESS, EVENT_ATTACHMENT, EVENT_RESULT, EVENT_FAULT = 1, 2, 3, 4, 5
EVENT_ITEM, EVENT_ROOM, EVENT_ASK, EVENT_ASK_ENDED = 6, 7, 8, 9
STREAM_STDOUT, STREAM_STDERR, STREAM_DATA, STREAM_ATTACHED = 1, 2, 3, 0x40000000


def _places(name: str) -> Iterator[str]:
    """Where the library may be: named by the user, installed beside this package, known to the
    loader, built in the source tree that this package lies in."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, "_native", name)
    up = os.path.normpath(os.path.join(here, "..", "..", "..", ".."))  # of share/bulkhead/python
    for pattern in ("lib*", "lib*/*"):
        yield from sorted(glob.glob(os.path.join(glob.escape(up), pattern, name + ".0")))
    yield name + ".0"
    for flavour in ("release", "dev"):
        yield os.path.join(here, "..", "..", "..", "build", flavour, "lib", name)


def load(name: str = "libbulkhead.so") -> ctypes.CDLL:
    """The library, loaded. OSError names every place tried and the way out."""
    named = os.environ.get(ENV)
    if named:
        if name != "libbulkhead.so":
            named = os.path.join(os.path.dirname(named), name)
        try:
            return ctypes.CDLL(named)
        except OSError as error:
            raise OSError(f"{ENV} leads to {named}, which cannot be loaded ({error}); set it to the path of "
                          "libbulkhead.so, or leave it out") from None
    tried = []
    for place in _places(name):
        if os.sep in place and not os.path.exists(place):
            tried.append(place)
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(f"{place} ({error})")
    raise OSError(f"{name} was not found; set {ENV} to its path, or install it where the dynamic "
                  f"loader looks. Tried: " + "; ".join(tried))


class Library:
    """host.h for Python: `lib.bh_queue_next(...)` as it is, and `call`, `make` over it."""

    def __init__(self) -> None:
        self.cdll = load()
        for name, (returns, takes) in PROTOTYPES.items():
            try:
                function = getattr(self.cdll, name)
            except AttributeError:
                raise OSError(f"{self.cdll._name} has no {name}: it is older than this package") from None
            function.restype = returns
            function.argtypes = takes
            setattr(self, name, function)
        version = self.bh_version()
        # Before 1.0 a minor version may change a signature.
        if version >> 8 != HOST_VERSION >> 8:
            raise OSError(f"{self.cdll._name} is version {self.bh_version_text().decode()}, this package "
                          f"is for {HOST_VERSION >> 16}.{HOST_VERSION >> 8 & 255}.x; install the two together")

    def __getattr__(self, name: str) -> Any:  # for type checkers: the functions are set above
        raise AttributeError(name)

    def text(self, function: Callable[..., Optional[int]], handle: Any) -> bytes:
        """A copy of what a function with a length returns."""
        size = c_size_t()
        at = function(handle, byref(size))
        return string_at(at, size.value) if at else b""

    def error(self, fault: Any, status: int = 0) -> BulkheadError:
        """The exception for a bh_fault, which stays whoever's it is."""
        if not fault:
            return error_for(status, "the library gave no reason", {})
        message = self.text(self.bh_fault_message, fault).decode("utf-8", "replace")
        details = self.text(self.bh_fault_details, fault)
        try:
            parsed = json.loads(details) if details else {}
        except ValueError:
            parsed = {}
        return error_for(self.bh_fault_code(fault), message, parsed)

    def call(self, function: Callable[..., int], *args: Any) -> None:
        """Calls what takes a place for its fault last; raises the typed exception."""
        fault = c_void_p()
        status = function(*args, byref(fault))
        if status != 0:
            try:
                raise self.error(fault, status)
            finally:
                self.bh_fault_free(fault)

    def make(self, function: Callable[..., int], *args: Any) -> int:
        """The same with a place for a new handle before that; 0 where there is none."""
        handle = c_void_p()
        self.call(function, *args, byref(handle))
        return handle.value or 0


_library: Optional[Library] = None


def library() -> Library:
    """The one of this process, loaded on first use. [any thread]"""
    global _library
    if _library is None:
        _library = Library()  # two at once load the same file twice, which is the same handle
    return _library


def packed(text: str) -> Tuple[bytes, int]:
    """A text as the two parameters that it is in host.h."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"a text is not Unicode at {text[max(0, error.start - 20):error.end]!a}; give the "
                              "bytes of a file name as bytes (os.fsencode)", {"reason": "utf8"}) from None
    return data, len(data)


def dumps(value: Any) -> str:
    """JSON without NaN, which the library would refuse with less to say."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"a value cannot be said in JSON: {error}", {"reason": "json"}) from None
