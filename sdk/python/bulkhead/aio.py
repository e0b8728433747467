"""The same for asyncio: `async for`, `await`, and a task that is cancelled cancels its run."""
import asyncio
import io
from typing import (TYPE_CHECKING, Any, AsyncIterator, Awaitable, Dict, Iterable, List, Mapping,
                    Optional, Union)

from ._wire import ENDED, ROOM, Attached, OpenRun, Unread, at_hand, chunks, events_into, finish, slices
from .errors import Cancelled, OutOfRange
from .events import Event, Record, Reply
from .nouns import Nouns
from .run import CLOSE_SECONDS

if TYPE_CHECKING:
    from .sandbox import AsyncSandbox


class AsyncRun:
    """One operation in progress, for one event loop: `async for event in run`, `await run.result()`.

    Tasks may write and iterate side by side. As an async context manager it cancels what has not
    ended and waits for its end.
    """

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._unread = Unread()
        self._lock: Optional[asyncio.Lock] = None  # Python 3.9 binds one to the loop that is there

    @property
    def _pulling(self) -> asyncio.Lock:
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    async def __aenter__(self) -> "AsyncRun":
        return self

    async def __aexit__(self, *rest: Any) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        async with self._pulling:
            while True:
                if self._unread:
                    return self._unread.take()
                event = await self._take()
                if event is ENDED:
                    if self._run.error is not None:
                        raise self._run.error
                    raise StopAsyncIteration
                if event is not ROOM:
                    return event  # type: ignore[no-any-return]

    async def write(self, data: Union[bytes, bytearray, memoryview, str]) -> None:
        """Sends input, waiting for room; see Run.write."""
        for part in slices(data):
            while part:
                part = part[self._run.send(part):]
                if part:
                    await self._await_room()

    async def end_input(self) -> None:
        """The command sees the end of its stdin."""
        self._run.send_end()

    def cancel(self) -> None:
        """Asks it to end; its last event is then Cancelled."""
        self._run.cancel()

    async def result(self) -> Any:
        """Reads to its end, drops what it still tells, and gives the result or raises."""
        async for _ in self:
            pass
        return self._run.result

    async def reply(self, input: Any = None) -> Reply:
        """Reads to its end and gives everything but progress. `input`: as of Run.reply (files and
        iterables are read in threads), or an async iterable of bytes."""
        feeder = asyncio.ensure_future(self._feed(input)) if input is not None else None
        reply = Reply()
        parts: Dict[int, io.BytesIO] = {}
        try:
            async for event in self:
                events_into(reply, parts, event)
        except Cancelled:
            if feeder is not None and feeder.done() and not feeder.cancelled() and feeder.exception():
                raise feeder.exception() from None  # type: ignore[misc]
            raise
        finally:
            if feeder is not None:
                feeder.cancel()
                await asyncio.gather(feeder, return_exceptions=True)
        return finish(reply, parts, self._run.result)

    async def close(self) -> None:
        """Cancels it where it has not ended, and waits for its end, for 5 s at most."""
        try:
            if not self._run.ended:
                self._run.cancel()
                await asyncio.wait_for(self._drain(), CLOSE_SECONDS)
        except asyncio.TimeoutError:
            pass
        finally:
            self._run.free()

    async def _drain(self) -> None:
        async with self._pulling:  # a task that iterates meets the end first
            while await self._take() is not ENDED:
                pass

    async def _feed(self, source: Any) -> None:
        try:
            if hasattr(source, "__aiter__"):
                async for part in source:
                    await self.write(part)
            elif at_hand(source):
                for part in chunks(source):
                    await self.write(part)
            else:
                parts = chunks(source)
                loop = asyncio.get_running_loop()
                while True:
                    part = await loop.run_in_executor(None, next, parts, None)
                    if part is None:
                        break
                    await self.write(part)
            await self.end_input()
        except OutOfRange:
            return
        except BaseException:
            self._run.cancel()  # half of the input would be taken for the whole
            raise

    async def _take(self) -> Any:
        event = self._run.take(0)
        while event is None:
            if self._run.fd < 0:
                await asyncio.sleep(0.01)
            else:
                await self._readable()
            event = self._run.take(0)
        return event

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def now() -> None:
            if not ready.done():
                ready.set_result(None)
        loop.add_reader(self._run.fd, now)
        try:
            await ready
        finally:
            loop.remove_reader(self._run.fd)

    async def _await_room(self) -> None:
        if self._pulling.locked():
            await asyncio.sleep(0.002)  # another task reads: it takes the news that there is room
            return
        async with self._pulling:
            while True:
                event = await self._take()
                if event is ROOM:
                    return
                if event is ENDED:
                    raise self._run.error or OutOfRange("the run ended before it had read all")
                self._unread.keep(event, "task")


class AsyncSession(Nouns[Awaitable[Record], Awaitable[List[Record]], Awaitable[bytes],
                         Awaitable["AsyncSandbox"], Awaitable[AsyncRun]]):
    """A Session whose calls are awaited: `await session.aio.sandbox.create(...)`."""

    def __init__(self, session: Any) -> None:
        self._session = session
        super().__init__(self._invoke)

    def start(self, operation: str, args: Optional[Mapping[str, Any]] = None, *, input: bool = False,
              attachments: Iterable[Attached] = (), timeout: Optional[float] = None) -> AsyncRun:
        """Starts an operation; see Session.start. It does not wait."""
        return AsyncRun(self._session._open(operation, args, attachments, timeout, input))

    async def call(self, operation: str, args: Optional[Mapping[str, Any]] = None, *, input: Any = None,
                   attachments: Iterable[Attached] = (), timeout: Optional[float] = None) -> Reply:
        """Runs an operation to its end; see Session.call. A task that is cancelled meanwhile
        cancels it and is not done before it has ended."""
        run = self.start(operation, args, input=input is not None, attachments=attachments,
                         timeout=timeout)
        try:
            return await run.reply(input)
        finally:
            await run.close()

    async def _invoke(self, operation: str, args: Mapping[str, Any], shape: str, data: Any,
                      timeout: Optional[float]) -> Any:
        given = {key: value for key, value in args.items() if value is not None}
        if shape == "run":
            return self.start(operation, given, timeout=timeout)
        reply = await self.call(operation, given, input=data, timeout=timeout)
        if shape == "items":
            return reply.items
        if shape == "bytes":
            return reply.data
        if shape == "sandbox":
            from .sandbox import AsyncSandbox
            return AsyncSandbox(self, reply.result)
        return reply.result
