"""A sandbox at hand, with its operations as methods."""
from typing import Any, Awaitable, List, Optional, Sequence, Type

from .aio import AsyncRun
from .errors import NotFound
from .events import Record
from .nouns.sandbox import BoundSandbox
from .nouns.sandbox_files import BoundFiles
from .run import Run


class Sandbox(BoundSandbox[Record, List[Record], bytes, "Sandbox", Run]):
    """What session.sandbox.create() and connect() give. `id` names it, `record` is what the host
    said of it: state, backend and the enforcement report.

        done = box.exec(["python3", "-c", "print(6 * 7)"])
        done.exit.code, done.stdout.text
        box.files.write("notes.txt", content="hello")

    As a context manager it is killed at the end.
    """

    def __init__(self, session: Any, record: Record) -> None:
        self.session = session
        self.record = record
        self.id: str = record["sandbox"]
        super().__init__(session._invoke, self.id)
        self.files: BoundFiles[Record, List[Record], bytes, "Sandbox", Run] = BoundFiles(session._invoke, self.id)

    def __repr__(self) -> str:
        return f"<bulkhead.Sandbox {self.id}>"

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *rest: Any) -> None:
        try:
            self.kill()
        except NotFound:
            pass  # it was killed in the block

    def start(self, argv: Sequence[str], *, input: bool = False, timeout: Optional[float] = None,
              **options: Any) -> Run:
        """Starts a command and streams it; options as of exec()."""
        run: Run = self.session.start("sandbox.exec", {"sandbox": self.id, "argv": argv, **options},
                                      input=input, timeout=timeout)
        return run


class AsyncSandbox(BoundSandbox[Awaitable[Record], Awaitable[List[Record]], Awaitable[bytes],
                                Awaitable["AsyncSandbox"], Awaitable[AsyncRun]]):
    """The same for asyncio: `done = await box.exec(["id"])`, `async with box: …`."""

    def __init__(self, session: Any, record: Record) -> None:
        self.session = session
        self.record = record
        self.id: str = record["sandbox"]
        super().__init__(session._invoke, self.id)
        self.files: BoundFiles[Awaitable[Record], Awaitable[List[Record]], Awaitable[bytes],
                               Awaitable["AsyncSandbox"], Awaitable[AsyncRun]] = BoundFiles(
            session._invoke, self.id)

    def __repr__(self) -> str:
        return f"<bulkhead.AsyncSandbox {self.id}>"

    async def __aenter__(self) -> "AsyncSandbox":
        return self

    async def __aexit__(self, *rest: Any) -> None:
        try:
            await self.kill()
        except NotFound:
            pass

    def start(self, argv: Sequence[str], *, input: bool = False, timeout: Optional[float] = None,
              **options: Any) -> AsyncRun:
        """Starts a command and streams it; options as of exec(). It does not wait."""
        run: AsyncRun = self.session.start(
            "sandbox.exec", {"sandbox": self.id, "argv": argv, **options}, input=input, timeout=timeout)
        return run
