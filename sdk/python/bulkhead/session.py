"""One persona's view of a runtime."""
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional,
                    TypeVar, overload)

from . import _library as L
from ._wire import Attached, Handle, OpenRun
from .aio import AsyncSession
from .events import Record, Reply
from .nouns import Nouns
from .nouns.tools import Tools
from .run import Run
from .serve import Answers, tool_of

if TYPE_CHECKING:
    from .runtime import Runtime
    from .sandbox import Sandbox

F = TypeVar("F", bound=Callable[..., Any])


class Session(Nouns[Record, List[Record], bytes, "Sandbox", Run]):
    """One persona's view: its sandboxes, jobs, files and tools, and nobody else's. [any thread]

    The operations that the host offers are methods by noun, made from their schemas:
    `session.sandbox.create(workspace=os.getcwd())`, `session.files.get("report.pdf")`,
    `session.tool.list()`. `call` and `start` reach any operation by name, also one that is newer
    than this package. `aio` is the same for asyncio.
    """

    def __init__(self, runtime: Handle, session: Handle, lib: L.Library, name: str,
                 owner: "Runtime", lent: bool = False) -> None:
        self._lib = lib
        self._owner = owner  # kept, so that it is closed in good order at the process' end
        self._lent = lent
        self._runtime = runtime
        self._handle = session
        self._answers: Optional[Answers] = None
        self.name = name
        super().__init__(self._invoke)
        self.tool: SessionTools = SessionTools(self)
        self.aio = AsyncSession(self)

    def __repr__(self) -> str:
        return f"<bulkhead.Session {'lent by ' if self._lent else ''}{self.name}>"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *rest: Any) -> None:
        self.close()

    def start(self, operation: str, args: Optional[Mapping[str, Any]] = None, *, input: bool = False,
              attachments: Iterable[Attached] = (), timeout: Optional[float] = None) -> Run:
        """Starts an operation of host/operations.md and gives its run, to read, to write to where
        `input` is true, or to cancel. It does not wait.

        args: JSON values; bytes in them become {"base64": …}. timeout: seconds for the whole run,
        None: none but the operation's own. Wrong arguments raise InvalidArgument, here or when
        the run is read.
        """
        return Run(self._open(operation, args, attachments, timeout, input))

    def call(self, operation: str, args: Optional[Mapping[str, Any]] = None, *, input: Any = None,
             attachments: Iterable[Attached] = (), timeout: Optional[float] = None) -> Reply:
        """Runs an operation to its end and gives all that it told. Raises a BulkheadError.

        input: bytes, text, an open file or an iterable of bytes, sent while the output is read.
        Ctrl-C cancels it, waits for its end, and goes on as KeyboardInterrupt.
        """
        with self.start(operation, args, input=input is not None, attachments=attachments,
                        timeout=timeout) as run:
            return run.reply(input)

    def answer(self, question: str, function: Callable[..., Any]) -> None:
        """Answers what the host asks: "approval" or "policy.judge". `function(arguments)` gets the
        question as a dict and returns the answer, a JSON value; what it raises refuses."""
        self.answers().add_question(question, function)

    def answers(self) -> Answers:
        """What serves this session's tools; made when first needed."""
        if self._answers is None:
            self._answers = Answers(self._lib, self._runtime, self._handle, self._lend)
            self._owner._served.add(self._answers)
        return self._answers

    def close(self) -> None:
        """Its tools are gone, which otherwise stay until the runtime is closed. What still runs goes
        on until its own handle is closed."""
        if self._answers is not None:
            self._answers.close()
            self._answers = None
        self._handle.free()

    def _lend(self, raw: int) -> "Session":
        return Session(self._runtime, Handle(raw, self._lib.bh_session_free, "session"), self._lib,
                       self.name, self._owner, lent=True)

    def _open(self, operation: str, args: Optional[Mapping[str, Any]], attachments: Iterable[Attached],
              timeout: Optional[float], has_input: bool) -> OpenRun:
        return OpenRun(self._lib, self._runtime, self._handle, operation, args, attachments, timeout,
                       has_input)

    def _invoke(self, operation: str, args: Dict[str, Any], shape: str, data: Any,
                timeout: Optional[float]) -> Any:
        given = {key: value for key, value in args.items() if value is not None}
        if shape == "run":
            return self.start(operation, given, timeout=timeout)
        reply = self.call(operation, given, input=data, timeout=timeout)
        if shape == "items":
            return reply.items
        if shape == "bytes":
            return reply.data
        if shape == "sandbox":
            from .sandbox import Sandbox
            return Sandbox(self, reply.result)
        return reply.result


class SessionTools(Tools[Record, List[Record], bytes, "Sandbox", Run]):
    """session.tool: `.list()` and `.call(...)`, and the decorator that makes a function one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session._invoke)
        self._session = session

    @overload
    def __call__(self, function: F) -> F: ...

    @overload
    def __call__(self, **definition: Any) -> Callable[[F], F]: ...

    def __call__(self, function: Optional[Callable[..., Any]] = None, **definition: Any) -> Any:
        """Makes a function a tool that this persona's callers (and MCP clients) can call.

            @session.tool
            def add(a: int, b: int) -> int:
                "Adds two numbers."
                return a + b

        Its name, docstring and annotations become the definition; `definition` overrides members
        of it (name, description, input_schema, annotations …, abi/schemas/tool.json). It runs in a
        thread of its own in this process, in an event loop where it is a coroutine; a parameter annotated
        with bulkhead.Ask gets the call itself. A dict with "content" is the whole result,
        bytes become an attachment, anything else text and, as JSON, the structured content. An
        exception is the tool's own error: the caller sees its type and message.
        """
        if function is None:
            return lambda f: self(f, **definition)
        self._session.answers().add_tool(tool_of(function, definition), function,
                                         "input_schema" not in definition)
        return function
