"""A run that threads wait for."""
import select
import threading
import time
from collections import deque
from typing import Any, Deque, Dict, Iterator, List, Optional, Type, Union

from ._wire import ENDED, ROOM, OpenRun, chunks, events_into, finish, slices
from .errors import Cancelled, OutOfRange, ResourceExhausted
from .events import Event, Output, Reply

# A wait for the run's fd is cut into pieces: a signal that another thread was given is seen then.
WAIT_MS = 500
# What write() keeps of a command's output while nobody reads it.
UNREAD_BYTES = 64 << 20
CLOSE_SECONDS = 5.0


class Run:
    """One operation in progress: iterate over it for its events, then ask for result().

    One thread may write while another iterates. Ctrl-C in a wait cancels the run. As a context
    manager it cancels what has not ended and waits for its end, so that nothing is left running.
    """

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._unread: Deque[Event] = deque()
        self._unread_bytes = 0
        self._pulling = threading.Lock()
        self._changed = threading.Condition()
        self._poll = select.poll()
        if run.fd >= 0:
            self._poll.register(run.fd, select.POLLIN)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *rest: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        event = self._next()
        if event is None:
            if self._run.error is not None:
                raise self._run.error
            raise StopIteration
        return event

    @property
    def ended(self) -> bool:
        """Its result or error has been read."""
        return self._run.ended and not self._unread

    def write(self, data: Union[bytes, bytearray, memoryview, str]) -> None:
        """Sends input, waiting for room. OutOfRange: nobody reads any more.

        Where no other thread iterates, events that arrive meanwhile are kept for later; above
        64 MiB of them it is ResourceExhausted: read while you write, or give the input to call().
        """
        for part in slices(data):
            while part:
                part = part[self._run.send(part):]
                if part:
                    self._await_room()

    def end_input(self) -> None:
        """The command sees the end of its stdin."""
        self._run.send_end()

    def cancel(self) -> None:
        """Asks it to end; its last event is then Cancelled. From any thread."""
        self._run.cancel()

    def result(self) -> Any:
        """Reads to its end, drops what it still tells, and gives the result or raises."""
        for _ in self:
            pass
        return self._run.result

    def reply(self, input: Any = None) -> Reply:
        """Reads to its end and gives everything; `input` (bytes, text, a file, an iterable of
        bytes) is sent meanwhile, and ended."""
        reply = Reply()
        parts: Dict[int, List[bytes]] = {}
        source = iter(chunks(input)) if input is not None else None
        part = b""
        room = True
        while True:
            if source is not None and room:
                try:
                    part = part or next(source, b"")
                    if part:
                        part = part[self._run.send(part):]
                        room = not part
                    else:
                        self._run.send_end()
                        source = None
                except OutOfRange:
                    source = None  # it has read what it wanted, as `head` does
            event = self._step(0 if source is not None and room else None)
            if event is ROOM:
                room = True
            elif event is ENDED:
                break
            elif event is not None:
                events_into(reply, parts, event)
        if self._run.error is not None:
            raise self._run.error
        return finish(reply, parts, self._run.result)

    def close(self) -> None:
        """Cancels it where it has not ended, and waits for its end, for 5 s at most."""
        try:
            if not self._run.ended:
                self._run.cancel()
                self._drain(CLOSE_SECONDS)
        finally:
            self._run.free()

    def _drain(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._run.ended and time.monotonic() < until:
            if self._take(100) is None:
                continue

    def _take(self, timeout_ms: Optional[int]) -> Any:
        """One event; waits for at most timeout_ms, None: for as long as it takes."""
        event = self._run.take(0)
        while event is None and timeout_ms != 0:
            span = WAIT_MS if timeout_ms is None else min(timeout_ms, WAIT_MS)
            if self._run.fd >= 0:
                self._poll.poll(span)
                event = self._run.take(0)
            else:
                event = self._run.take(min(span, 100))
            if timeout_ms is not None:
                break
        return event

    def _step(self, timeout_ms: Optional[int]) -> Any:
        """The same for one who pulls alone; a signal in it cancels the run."""
        try:
            return self._take(timeout_ms)
        except KeyboardInterrupt:
            self._run.cancel()
            self._drain(CLOSE_SECONDS)
            raise

    def _next(self) -> Optional[Event]:
        while True:
            with self._pulling:
                if self._unread:
                    kept = self._unread.popleft()
                    self._unread_bytes -= len(kept.data) if isinstance(kept, Output) else 0
                    return kept
                event = self._step(None)
            if event is ROOM:
                with self._changed:
                    self._changed.notify_all()
            elif event is ENDED:
                with self._changed:
                    self._changed.notify_all()
                return None
            else:
                return event  # type: ignore[no-any-return]

    def _await_room(self) -> None:
        while True:
            if not self._pulling.acquire(blocking=False):
                with self._changed:  # who iterates meets the news; the rest of the wait is a guard
                    self._changed.wait(0.05)
                return
            try:
                event = self._step(None)
                if event is ROOM:
                    return
                if event is ENDED:
                    raise self._run.error or Cancelled("the run ended before it had read all")
                self._unread.append(event)
                self._unread_bytes += len(event.data) if isinstance(event, Output) else 0
                if self._unread_bytes > UNREAD_BYTES:
                    raise ResourceExhausted("64 MiB of output wait for a reader: iterate over the run in "
                                            "another thread, or give the input to call()", {"reason": "unread"})
            finally:
                self._pulling.release()
