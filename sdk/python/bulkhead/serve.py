"""The embedder answers: tools of its own, approvals, a judge. Questions are pulled from a queue by a
thread of Python's; no thread of the library ever runs Python."""
import asyncio
import inspect
import itertools
import json
import logging
import os
import queue
import threading
from ctypes import byref, c_size_t
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from . import _library as L
from ._wire import Handle, event_value, loads, plain, slices, whole
from .definition import Parameters
from .errors import BulkheadError, InvalidArgument, OutOfRange, ResourceExhausted, ToolError
from .events import Attachment

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger("bulkhead")
SIDE_BY_SIDE = 512  # calls of a session's tools that are open at once; further ones are refused


class Ask:
    """One call of a tool of yours, or one question. Given to a parameter annotated with it."""

    def __init__(self, lib: L.Library, raw: int, arguments: Any, attachments: List[Attachment],
                 lend: Callable[[int], "Session"]) -> None:
        self._lib = lib
        self._handle = Handle(raw, lib.bh_ask_free, "ask")
        self._lend = lend
        self._room = threading.Event()
        self._over = threading.Event()
        self.id: int = lib.bh_ask_id(raw)
        self.arguments = arguments
        self.attachments = attachments

    @property
    def cancelled(self) -> bool:
        """Nobody waits for the answer any more; look at it in long loops."""
        return self._over.is_set()

    def wait_cancelled(self, timeout: Optional[float] = None) -> bool:
        """Waits for that, in seconds; a sleep that ends with the call."""
        return self._over.wait(timeout)

    def session(self) -> "Session":
        """The caller's session: its rights, its deadline, its cancellation, and no more."""
        return self._lend(self._lib.make(self._lib.bh_ask_session, self._handle.raw))

    def write(self, data: Union[bytes, str], stream: int = L.STREAM_STDOUT) -> None:
        """Output while the tool works, with back-pressure. OutOfRange: nobody waits any more."""
        for part in slices(data):
            while part:
                self._room.clear()
                taken = c_size_t()
                self._lib.call(self._lib.bh_ask_emit, self._handle.raw, stream, part, len(part), byref(taken))
                part = part[taken.value:]
                if part:
                    self._room.wait(0.5)

    def attach(self, name: str, data: Any, type: str = "application/octet-stream") -> None:
        """Bytes that the result names, 64 MiB at most; more than that goes out by write()."""
        copy = whole(data)
        while True:
            self._room.clear()
            try:
                self._lib.call(self._lib.bh_ask_attach, self._handle.raw, *L.packed(name), *L.packed(type),
                               copy, len(copy))
                return
            except ResourceExhausted as error:
                if error.reason != "ask_full":
                    raise
            self._room.wait(0.5)

    def _answer(self, value: Any) -> None:
        self._lib.call(self._lib.bh_ask_result, self._handle.raw, *L.packed(L.dumps(plain(value))))

    def _fail(self, code: int, message: str, details: Mapping[str, Any]) -> None:
        text = message.encode("utf-8", "replace")
        try:
            told = L.packed(L.dumps(plain(details)) if details else "")
        except BulkheadError:
            log.warning("the details of an error cannot be said in JSON and are left out: %r", details)
            told = (b"", 0)
        try:
            self._lib.call(self._lib.bh_ask_fail, self._handle.raw, code, text, len(text), *told)
        except OutOfRange:
            pass  # nobody waits for it


def tool_of(function: Callable[..., Any], definition: Mapping[str, Any]) -> Dict[str, Any]:
    """abi/schemas/tool.json for a function. `definition` wins over what the function says."""
    tool = {"name": getattr(function, "__name__", ""), "description": inspect.getdoc(function) or ""}
    if "input_schema" not in definition:
        tool["input_schema"] = Parameters(function, Ask).schema()
    tool.update(definition)
    if not tool["description"]:
        raise TypeError(f"{tool['name']}() has no docstring, which tells a model what it is for; write one, "
                        "or give description=")
    return tool


def tool_result(value: Any, ask: Ask) -> Dict[str, Any]:
    """abi/schemas/tool_result.json for what a tool returned."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return value
    if isinstance(value, (bytes, bytearray)):
        ask.attach("result", bytes(value))
        return {"content": [{"type": "attachment", "attachment": "result"}]}
    if value is None:
        return {"content": []}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    value = plain(value)
    structured = value if isinstance(value, dict) else {"result": value}
    return {"content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}],
            "structured": structured}


class Threads:
    """Threads that answer: one for each call that is open, so that tools may call each other, kept for
    a while for the next. They are daemons, which the end of the process does not wait for."""

    def __init__(self, name: str, most: int, idle_seconds: float) -> None:
        self._name, self._most, self._idle_seconds = name, most, idle_seconds
        self._work: "queue.SimpleQueue[Callable[[], None]]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._all = 0

    def submit(self, work: Callable[[], None]) -> bool:
        """False: there are too many already."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1  # that one is taken
            elif self._all < self._most:
                self._all += 1
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            else:
                return False
        self._work.put(work)
        return True

    def _run(self) -> None:
        while True:
            try:
                work = self._work.get(timeout=self._idle_seconds)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:  # else one has just been counted on
                        self._idle -= 1
                        self._all -= 1
                        return
                continue
            work()
            with self._lock:
                self._idle += 1


class Answers:
    """The queue of a session's questions, the thread that pulls it, and the threads that answer."""

    def __init__(self, lib: L.Library, runtime: Handle, session: Handle,
                 lend: Callable[[int], "Session"]) -> None:
        self._lib = lib
        self._session = session
        self._lend = lend
        self._queue = Handle(lib.make(lib.bh_queue_new, runtime.raw), lib.bh_queue_free, "queue")
        self._servers: List[Handle] = []
        self._handlers: Dict[int, Callable[[Ask], None]] = {}
        self._tags = itertools.count(1)
        self._asks: Dict[int, Ask] = {}
        self._early: Dict[int, List[Attachment]] = {}
        self._closing = False
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._threads = Threads("bulkhead-tool", SIDE_BY_SIDE, 10.0)
        self._thread = threading.Thread(target=self._pull, name="bulkhead-answers", daemon=True)
        self._thread.start()

    def add_tool(self, tool: Mapping[str, Any], function: Callable[..., Any], with_schema: bool) -> None:
        parameters = Parameters(function, Ask, with_schema)
        what: Dict[str, Any] = {"tool": tool}
        if parameters.ask_name:
            what["attachments"] = True
        self._serve(what, lambda ask: self._run_tool(parameters, ask))

    def add_question(self, question: str, function: Callable[..., Any]) -> None:
        self._serve({"answers": question}, lambda ask: self._run_question(function, ask))

    def close(self) -> None:
        """Open questions fail as Unavailable. Does not wait for a tool that is still running."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
        for server in self._servers:
            server.free()
        for ask in list(self._asks.values()):
            ask._over.set()
            ask._room.set()
        if os.getpid() == self._pid:  # a fork has no such thread
            self._lib.bh_queue_wake(self._queue.raw)
            if threading.current_thread() is not self._thread:
                self._thread.join(5)

    def _serve(self, what: Mapping[str, Any], handler: Callable[[Ask], None]) -> None:
        tag = next(self._tags)
        self._handlers[tag] = handler
        try:
            raw = self._lib.make(self._lib.bh_serve, self._session.raw, *L.packed(L.dumps(plain(what))),
                                 self._queue.raw, tag)
        except BaseException:
            self._handlers.pop(tag, None)
            raise
        self._servers.append(Handle(raw, self._lib.bh_server_free, "server"))

    def _pull(self) -> None:
        while not self._closing:
            try:
                raw = self._lib.make(self._lib.bh_queue_next, self._queue.raw, 1000)
            except BulkheadError as error:
                if not self._closing:
                    log.info("no more questions: %s", error)  # the runtime is closed
                return
            if raw:
                try:
                    self._on_event(raw)
                except Exception:  # one question is lost; those after it are not
                    log.exception("a question could not be taken")
                finally:
                    self._lib.bh_event_free(raw)

    def _on_event(self, raw: int) -> None:
        kind, id = self._lib.bh_event_kind(raw), self._lib.bh_event_id(raw)
        ask = self._asks.get(id)
        if kind == L.EVENT_ATTACHMENT:
            self._early.setdefault(id, []).append(event_value(self._lib, raw, kind))
        elif kind == L.EVENT_ASK:
            self._take(raw)
        elif ask is not None and kind == L.EVENT_ROOM:
            ask._room.set()
        elif kind == L.EVENT_ASK_ENDED:
            self._early.pop(id, None)
            if ask is not None:
                ask._over.set()
                ask._room.set()

    def _take(self, raw: int) -> None:
        ask = Ask(self._lib, self._lib.bh_event_ask(raw), None, [], self._lend)
        try:
            ask.attachments = self._early.pop(ask.id, [])
            ask.arguments = loads(self._lib.text(self._lib.bh_event_data, raw))
            handler = self._handlers[self._lib.bh_event_tag(raw)]
        except Exception as error:
            ask._fail(13, f"{type(error).__name__}: {error}", {"reason": "exception"})
            raise
        self._asks[ask.id] = ask
        if not self._threads.submit(lambda: self._handle(handler, ask)):
            self._asks.pop(ask.id, None)
            ask._fail(8, f"{SIDE_BY_SIDE} calls of this process' tools are open already; try again later",
                      {"reason": "tools_busy"})

    def _handle(self, handler: Callable[[Ask], None], ask: Ask) -> None:
        try:
            if not ask.cancelled:
                handler(ask)
        except OutOfRange:
            pass  # too late to answer
        except BulkheadError as error:
            ask._fail(error.code, error.message, error.details)
        except BaseException as error:  # a tool may raise anything, also SystemExit
            log.exception("an answer failed")
            ask._fail(13, f"{type(error).__name__}: {error}", {"reason": "exception"})
        finally:
            if os.getpid() != self._pid:
                os._exit(70)  # a tool forked and its child came back: it would answer in the parent's name
            self._asks.pop(ask.id, None)
            ask._handle.free()

    def _run_tool(self, parameters: Parameters, ask: Ask) -> None:
        name = getattr(parameters.function, "__name__", "")
        try:
            value = parameters.call(ask.arguments, ask)
            if inspect.isawaitable(value):
                value = asyncio.run(_awaited(value))
            result = tool_result(value, ask)
        except BulkheadError:
            raise
        except ToolError as error:
            result = {"content": [{"type": "text", "text": str(error)}], "is_error": True}
        except Exception as error:
            log.exception("the tool %s raised", name)
            text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()
            result = {"content": [{"type": "text", "text": text}], "is_error": True}
        try:
            ask._answer(result)
        except InvalidArgument as error:
            log.exception("the result of the tool %s cannot be sent", name)
            text = f"the tool's result cannot be sent: {error.message}"
            ask._answer({"content": [{"type": "text", "text": text}], "is_error": True})

    @staticmethod
    def _run_question(function: Callable[..., Any], ask: Ask) -> None:
        value = function(ask.arguments)
        if inspect.isawaitable(value):
            value = asyncio.run(_awaited(value))
        ask._answer(value)


async def _awaited(value: Any) -> Any:
    return await value
