"""A run that threads wait for."""
import io
import select
import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Type, Union

from ._wire import ENDED, ROOM, OpenRun, Unread, at_hand, chunks, events_into, finish, slices
from .errors import Cancelled, FailedPrecondition, OutOfRange
from .events import Event, Reply

# A wait for the run's fd is cut into pieces: a signal that another thread was given is seen then.
WAIT_MS = 500
CLOSE_SECONDS = 5.0


class Run:
    """One operation in progress: iterate over it for its events, then ask for result().

    One thread may write while another iterates; cancel() and close() may come from any. Ctrl-C in a
    wait cancels the run. As a context manager it cancels what has not ended and waits for its end,
    so that nothing is left running.
    """

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._unread = Unread()
        self._pulling = threading.Lock()
        self._changed = threading.Condition()
        self._rooms = 0  # how often there was room again; grows under _changed
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
                seen = self._rooms
                part = part[self._run.send(part):]
                if part:
                    self._await_room(seen)

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
        """Reads to its end and gives everything but progress. `input` is sent meanwhile, and ended:
        bytes, text, an open file or an iterable of bytes. The latter two are read in a thread of
        their own, so that they may wait; what they raise cancels the run and is raised here."""
        if input is None or at_hand(input):
            return self._reply(input)
        failed: List[BaseException] = []
        feeder = threading.Thread(target=self._feed, args=(input, failed), name="bulkhead-input", daemon=True)
        feeder.start()
        try:
            reply = self._reply(None)
        except Cancelled:
            if failed:
                raise failed[0] from None
            raise
        return reply

    def close(self) -> None:
        """Cancels it where it has not ended, and waits for its end, for 5 s at most."""
        try:
            if not self._run.ended:
                self._run.cancel()
                # A thread that iterates meets the end first; it gives way after that.
                if self._pulling.acquire(timeout=CLOSE_SECONDS):
                    try:
                        self._drain(CLOSE_SECONDS)
                    finally:
                        self._pulling.release()
        finally:
            self._run.free()
            self._news()

    def _reply(self, input: Any) -> Reply:
        reply = Reply()
        parts: Dict[int, io.BytesIO] = {}
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
            with self._pulling:
                event = self._step(0 if source is not None and room else None)
            if event is ROOM:
                room = True
                self._news()
            elif event is ENDED:
                self._news()
                break
            elif event is not None:
                events_into(reply, parts, event)
        if self._run.error is not None:
            raise self._run.error
        return finish(reply, parts, self._run.result)

    def _feed(self, source: Any, failed: List[BaseException]) -> None:
        try:
            for part in chunks(source):
                self.write(part)
            self.end_input()
        except (OutOfRange, Cancelled, FailedPrecondition):
            pass  # nobody reads any more
        except BaseException as error:  # half of the input would be taken for the whole
            failed.append(error)
            self._run.cancel()

    def _drain(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._run.ended and time.monotonic() < until:
            self._take(100)

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
        """The same for one who holds _pulling; a signal in it cancels the run."""
        try:
            return self._take(timeout_ms)
        except KeyboardInterrupt:
            self._run.cancel()
            self._drain(CLOSE_SECONDS)
            raise

    def _news(self) -> None:
        """There is room, or an end: whoever waits to write looks again."""
        with self._changed:
            self._rooms += 1
            self._changed.notify_all()

    def _next(self) -> Optional[Event]:
        while True:
            with self._pulling:
                if self._unread:
                    return self._unread.take()
                event = self._step(None)
            if event is ROOM:
                self._news()
            elif event is ENDED:
                self._news()
                return None
            else:
                return event  # type: ignore[no-any-return]

    def _await_room(self, seen: int) -> None:
        """Returns when there was room since `seen`; reads events where nobody else does."""
        while self._rooms == seen:
            if not self._pulling.acquire(blocking=False):
                with self._changed:  # who reads meets the news; the limit is for one that stops reading
                    self._changed.wait_for(lambda: self._rooms != seen, 0.05)
                continue
            try:
                event = self._step(None)
                if event is ROOM:
                    return
                if event is ENDED:
                    raise self._run.error or OutOfRange("the run ended before it had read all")
                self._unread.keep(event, "thread")
            finally:
                self._pulling.release()
