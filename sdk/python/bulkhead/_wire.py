"""One run over host.h: a request, a queue of its own, and its events as Python values. It never
waits for longer than it is told; run.py waits for it in threads, aio.py in an event loop."""
import base64
import io
import json
import math
import weakref
from collections import deque
from ctypes import byref, c_size_t
from typing import (Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple,
                    Union)

from . import _library as L
from .errors import (BulkheadError, Cancelled, FailedPrecondition, InvalidArgument,
                     ResourceExhausted)
from .events import Attachment, Event, Item, Output, Progress, Record, Reply

ROOM = object()   # input has room again
ENDED = object()  # the result or the error stands in the run
DEEPEST = 128  # levels of JSON that the library reads
SLICE = 256 << 10  # bytes handed over at once, as copies


class Raw:
    """A pointer of the library as ctypes takes it. It is freed with the last reference, and a call in
    progress holds one: whoever closes a handle cannot pull it from under another thread's call."""

    __slots__ = ("_as_parameter_", "__weakref__")

    def __init__(self, raw: int, free: Callable[[int], None]) -> None:
        self._as_parameter_ = raw
        weakref.finalize(self, free, raw).atexit = False  # the process' end frees it anyway


class Handle:
    """What a name of ours leads to until it is closed; after that its use is a FailedPrecondition."""

    def __init__(self, raw: int, free: Callable[[int], None], what: str) -> None:
        self._raw: Optional[Raw] = Raw(raw, free)
        self._what = what

    @property
    def raw(self) -> Raw:
        raw = self._raw
        if raw is None:
            raise FailedPrecondition(f"the {self._what} is closed; make a new one", {"reason": "closed"})
        return raw

    @property
    def closed(self) -> bool:
        return self._raw is None

    def free(self) -> None:
        self._raw = None


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can say it: bytes become {"base64": …}, as the schemas have it."""
    if depth > DEEPEST:
        raise InvalidArgument(f"a value has more than {DEEPEST} levels", {"reason": "depth"})
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if hasattr(value, "__fspath__"):
        return plain(value.__fspath__())
    return value


def loads(data: bytes) -> Any:
    return json.loads(data, object_hook=Record) if data else None


def event_value(lib: L.Library, raw: int, kind: int) -> Any:
    """What an event of that kind tells, as a value of ours."""
    if kind == L.EVENT_OUTPUT:
        return Output(lib.bh_event_stream(raw), lib.text(lib.bh_event_data, raw))
    if kind == L.EVENT_ATTACHMENT:
        stream = lib.bh_event_stream(raw)
        return Attachment(lib.text(lib.bh_event_name, raw).decode("utf-8", "replace"),
                          lib.text(lib.bh_event_type, raw).decode("utf-8", "replace"),
                          lib.text(lib.bh_event_data, raw), stream if stream >= L.STREAM_ATTACHED else 0)
    if kind == L.EVENT_FAULT:
        return lib.error(lib.bh_event_fault(raw))
    if kind in (L.EVENT_ITEM, L.EVENT_PROGRESS, L.EVENT_RESULT):
        return loads(lib.text(lib.bh_event_data, raw))
    return None


def read_event(lib: L.Library, raw: int) -> Tuple[int, Any]:
    """The kind and the value of an event, which is freed: its room returns to the run."""
    try:
        kind = lib.bh_event_kind(raw)
        return kind, event_value(lib, raw, kind)
    finally:
        lib.bh_event_free(raw)


def whole(data: Any) -> bytes:
    """Bytes of whatever holds some, a text in UTF-8."""
    if isinstance(data, str):
        return L.packed(data)[0]
    return bytes(memoryview(data).cast("B"))


class Attached:
    """Bytes to send beside the arguments; 64 MiB at most, what is larger is input."""

    def __init__(self, name: str, data: Any, type: str = "application/octet-stream") -> None:
        self.name, self.data, self.type = name, whole(data), type


class OpenRun:
    """An operation in progress. Used by one thread at a time, but for cancel()."""

    def __init__(self, lib: L.Library, runtime: Handle, session: Handle, operation: str,
                 args: Optional[Mapping[str, Any]], attachments: Iterable[Attached],
                 timeout: Optional[float], has_input: bool) -> None:
        self.lib = lib
        self.result: Any = None
        self.error: Optional[BulkheadError] = None
        self.ended = False
        request = Handle(lib.make(lib.bh_request_new, *L.packed(operation)), lib.bh_request_free, "request")
        try:
            if args:
                lib.call(lib.bh_request_args, request.raw, *L.packed(L.dumps(plain(args))))
            for one in attachments:
                lib.call(lib.bh_request_attach, request.raw, *L.packed(one.name), *L.packed(one.type),
                         one.data, len(one.data))
            if timeout is not None and timeout != math.inf:
                if math.isnan(timeout):
                    raise InvalidArgument("timeout is NaN; give seconds, or None for none")
                lib.call(lib.bh_request_timeout, request.raw, min(max(1, int(timeout * 1000)), 1 << 62))
            if has_input:
                lib.call(lib.bh_request_input, request.raw)
            self.queue = Handle(lib.make(lib.bh_queue_new, runtime.raw), lib.bh_queue_free, "run")
            self.run = Handle(lib.make(lib.bh_start, session.raw, request.raw, self.queue.raw, 0),
                              lib.bh_run_free, "run")
        finally:
            request.free()
        self.fd: int = lib.bh_queue_fd(self.queue.raw)

    def take(self, timeout_ms: int = 0) -> Union[Event, object, None]:
        """The next event, ROOM, ENDED, or None where there is none within timeout_ms."""
        if self.ended:
            return ENDED
        try:
            raw = self.lib.make(self.lib.bh_queue_next, self.queue.raw, timeout_ms)
        except FailedPrecondition:
            if self.ended:  # closed by another thread
                return ENDED
            raise
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
        if not self.run.closed:
            try:
                self.lib.bh_run_cancel(self.run.raw)
            except FailedPrecondition:
                pass  # closed by another thread just now, which is the end of it too

    def free(self) -> None:
        """Ends it where it has not ended; none of this waits."""
        if not self.ended:
            self.error = Cancelled("the run was closed before it had ended", {"reason": "closed"})
        self.ended = True
        self.run.free()
        self.queue.free()


class Unread:
    """Events that came while somebody wrote and nobody read, for who reads next. Bounded: above that a
    program that never reads would fill the memory instead of noticing."""

    MOST = 64 << 20  # bytes of output

    def __init__(self) -> None:
        self._events: Deque[Event] = deque()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._events)

    def keep(self, event: Event, who: str) -> None:
        """who: what else could read meanwhile, for the error's remedy."""
        self._events.append(event)
        self._bytes += len(event.data) if isinstance(event, Output) else 0
        if self._bytes > self.MOST:
            raise ResourceExhausted(f"64 MiB of output wait for a reader: iterate over the run in another {who}, "
                                    "or give the input to call()", {"reason": "unread"})

    def take(self) -> Event:
        event = self._events.popleft()
        self._bytes -= len(event.data) if isinstance(event, Output) else 0
        return event


def at_hand(source: Any) -> bool:
    """Whether all of the input is there, so that taking the next part of it never waits."""
    return isinstance(source, (bytes, bytearray, memoryview, str))


def slices(data: Union[bytes, bytearray, memoryview, str]) -> Iterable[bytes]:
    """Parts that are small enough to copy again and again."""
    view = memoryview(L.packed(data)[0] if isinstance(data, str) else data).cast("B")
    for at in range(0, len(view), SLICE):
        yield bytes(view[at:at + SLICE])


def chunks(source: Any) -> Iterator[bytes]:
    """Input in any of its forms: bytes, text, an open file, an iterable of bytes."""
    if at_hand(source):
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


def events_into(reply: Reply, parts: Dict[int, io.BytesIO], event: Event) -> None:
    """Adds an event to what a call gives; the streams become bytes in finish()."""
    if isinstance(event, Output):
        parts.setdefault(event.stream, io.BytesIO()).write(event.data)
    elif isinstance(event, Item):
        reply.items.append(event.value)
    elif isinstance(event, Attachment):
        reply.attachments.append(event)


def finish(reply: Reply, parts: Dict[int, io.BytesIO], result: Any) -> Reply:
    """The streams become bytes (which a BytesIO gives without a copy), those of large attachments
    their attachments' own."""
    streams = {stream: parts.pop(stream).getvalue() for stream in list(parts)}
    for place, one in enumerate(reply.attachments):
        if one.stream:
            reply.attachments[place] = Attachment(one.name, one.type, streams.pop(one.stream, b""))
    reply.output.update(streams)
    reply.result = result
    return reply
