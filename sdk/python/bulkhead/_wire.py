"""One run over host.h: a request, a queue of its own, and its events as Python values. It never
waits for longer than it is told; run.py waits for it in threads, aio.py in an event loop."""
import base64
import json
import weakref
from ctypes import byref, c_size_t
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _library as L
from .errors import BulkheadError
from .events import Attachment, Event, Item, Output, Progress, Record, Reply

ROOM = object()   # input has room again
ENDED = object()  # the result or the error stands in the run
SLICE = 256 << 10  # bytes handed over at once, as copies


class Handle:
    """A handle of the library with its _free, which runs once: by hand or with the last reference."""

    def __init__(self, raw: int, free: Callable[[int], None]) -> None:
        self.raw = raw
        self._finalizer = weakref.finalize(self, free, raw)
        self._finalizer.atexit = False  # the process' end frees it anyway

    def free(self) -> None:
        self._finalizer()
        self.raw = 0


def plain(value: Any) -> Any:
    """A value as JSON can say it: bytes become {"base64": …}, as the schemas have it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "__fspath__"):
        return plain(value.__fspath__())
    return value


def loads(data: bytes) -> Any:
    return json.loads(data, object_hook=Record) if data else None


def read_event(lib: L.Library, raw: int) -> Tuple[int, Any]:
    """The kind and the value of an event, which is freed: its room returns to the run."""
    try:
        kind = lib.bh_event_kind(raw)
        if kind == L.EVENT_OUTPUT:
            return kind, Output(lib.bh_event_stream(raw), lib.text(lib.bh_event_data, raw))
        if kind == L.EVENT_ATTACHMENT:
            stream = lib.bh_event_stream(raw)
            return kind, Attachment(lib.text(lib.bh_event_name, raw).decode("utf-8", "replace"),
                                    lib.text(lib.bh_event_type, raw).decode("utf-8", "replace"),
                                    lib.text(lib.bh_event_data, raw),
                                    stream if stream >= L.STREAM_ATTACHED else 0)
        if kind == L.EVENT_FAULT:
            return kind, lib.error(lib.bh_event_fault(raw))
        if kind in (L.EVENT_ITEM, L.EVENT_PROGRESS, L.EVENT_RESULT):
            return kind, loads(lib.text(lib.bh_event_data, raw))
        return kind, None
    finally:
        lib.bh_event_free(raw)


class Attached:
    """Bytes to send beside the arguments; 64 MiB at most, what is larger is input."""

    def __init__(self, name: str, data: bytes, type: str = "application/octet-stream") -> None:
        self.name, self.data, self.type = name, data, type


class OpenRun:
    """An operation in progress. Used by one thread at a time, but for cancel()."""

    def __init__(self, lib: L.Library, runtime: Handle, session: Handle, operation: str,
                 args: Optional[Mapping[str, Any]], attachments: Iterable[Attached],
                 timeout: Optional[float], has_input: bool) -> None:
        self.lib = lib
        self.result: Any = None
        self.error: Optional[BulkheadError] = None
        self.ended = False
        request = Handle(lib.make(lib.bh_request_new, *L.packed(operation)), lib.bh_request_free)
        try:
            if args:
                lib.call(lib.bh_request_args, request.raw, *L.packed(L.dumps(plain(args))))
            for one in attachments:
                lib.call(lib.bh_request_attach, request.raw, *L.packed(one.name), *L.packed(one.type),
                         bytes(one.data), len(one.data))
            if timeout is not None:
                lib.call(lib.bh_request_timeout, request.raw, max(1, int(timeout * 1000)))
            if has_input:
                lib.call(lib.bh_request_input, request.raw)
            self.queue = Handle(lib.make(lib.bh_queue_new, runtime.raw), lib.bh_queue_free)
            self.run = Handle(lib.make(lib.bh_start, session.raw, request.raw, self.queue.raw, 0),
                              lib.bh_run_free)
        finally:
            request.free()
        self.fd: int = lib.bh_queue_fd(self.queue.raw)

    def take(self, timeout_ms: int = 0) -> Union[Event, object, None]:
        """The next event, ROOM, ENDED, or None where there is none within timeout_ms."""
        if self.ended:
            return ENDED
        raw = self.lib.make(self.lib.bh_queue_next, self.queue.raw, timeout_ms)
        if not raw:
            return None
        kind, value = read_event(self.lib, raw)
        if kind == L.EVENT_ROOM:
            return ROOM
        if kind in (L.EVENT_RESULT, L.EVENT_FAULT):
            self.ended = True
            if kind == L.EVENT_RESULT:
                self.result = value
            else:
                self.error = value
            return ENDED
        if kind == L.EVENT_ITEM:
            return Item(value)
        if kind == L.EVENT_PROGRESS:
            return Progress(value)
        return value if value is not None else ROOM  # a kind of a later library says nothing here

    def send(self, data: bytes) -> int:
        """How many of the bytes were taken; after less than all, ROOM says when to go on."""
        taken = c_size_t()
        self.lib.call(self.lib.bh_run_send, self.run.raw, data, len(data), byref(taken))
        return taken.value

    def send_end(self) -> None:
        self.lib.call(self.lib.bh_run_send_end, self.run.raw)

    def cancel(self) -> None:
        if self.run.raw:
            self.lib.bh_run_cancel(self.run.raw)

    def free(self) -> None:
        """Ends it where it has not ended; none of this waits."""
        self.ended = True
        self.run.free()
        self.queue.free()


def slices(data: Union[bytes, bytearray, memoryview, str]) -> Iterable[bytes]:
    """Parts that are small enough to copy again and again."""
    view = memoryview(data.encode("utf-8") if isinstance(data, str) else data).cast("B")
    for at in range(0, len(view), SLICE):
        yield bytes(view[at:at + SLICE])


def chunks(source: Any) -> Iterable[bytes]:
    """Input in any of its forms: bytes, text, an open file, an iterable of bytes."""
    if isinstance(source, (bytes, bytearray, memoryview, str)):
        yield from slices(source)
    elif hasattr(source, "read"):
        while True:
            part = source.read(SLICE)
            if not part:
                return
            yield from slices(part)
    else:
        for part in source:
            yield from slices(part)


def events_into(reply: Reply, parts: Dict[int, List[bytes]], event: Event) -> None:
    """Adds an event to what a call gives; streams are joined by finish()."""
    if isinstance(event, Output):
        parts.setdefault(event.stream, []).append(event.data)
    elif isinstance(event, Item):
        reply.items.append(event.value)
    elif isinstance(event, Attachment):
        reply.attachments.append(event)


def finish(reply: Reply, parts: Mapping[int, List[bytes]], result: Any) -> Reply:
    """The streams become bytes, those of large attachments their attachments' own."""
    whole = {stream: b"".join(data) for stream, data in parts.items()}
    for place, one in enumerate(reply.attachments):
        if one.stream:
            reply.attachments[place] = Attachment(one.name, one.type, whole.pop(one.stream, b""))
    reply.output.update(whole)
    reply.result = result
    return reply
