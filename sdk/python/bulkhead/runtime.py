"""Plugins and configuration: what everything else comes from."""
import atexit
import weakref
from typing import Any, Mapping, Optional

from . import _library as L
from ._wire import Handle, plain
from .serve import Answers
from .session import Session

# Closed at the process' end, so that its commands end in good order and not by its death.
_open: "weakref.WeakSet[Runtime]" = weakref.WeakSet()


class Runtime:
    """Reads the plugins' manifests and keeps what is loaded. [any thread]

        with bulkhead.Runtime(data_root="/srv/agents") as runtime:
            box = runtime.session("alice").sandbox.create()

    config and options: what differs from the defaults (data_root, config_dir, plugins, isolation,
    toolsets, defaults, workers, log), as host.h has it. Raises a BulkheadError that names the key.
    After a fork its calls raise FailedPrecondition in the child: use the spawn method of
    multiprocessing.
    """

    def __init__(self, config: Optional[Mapping[str, Any]] = None, **options: Any) -> None:
        lib = L.library()
        whole = {"version": 1, **(config or {}), **options}
        self._lib = lib
        self._handle = Handle(lib.make(lib.bh_runtime_new, *L.packed(L.dumps(plain(whole)))),
                              lib.bh_runtime_free, "runtime")
        self._served: "weakref.WeakSet[Answers]" = weakref.WeakSet()
        _open.add(self)

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *rest: Any) -> None:
        self.close()

    @property
    def version(self) -> str:
        """The library's."""
        return str(self._lib.bh_version_text().decode())

    def session(self, persona: str = "default", *, operator: bool = False) -> Session:
        """A persona's view, NAME of [a-z0-9-]{1,40}; or the operator's, who sees all of them."""
        config = {"operator": True} if operator else {"persona": persona}
        raw = self._lib.make(self._lib.bh_session_new, self._handle.raw, *L.packed(L.dumps(config)))
        return Session(self._handle, Handle(raw, self._lib.bh_session_free, "session"), self._lib,
                       "operator" if operator else persona, self)

    def close(self, timeout: float = 5.0) -> None:
        """Stops all runs and closes the plugins. DeadlineExceeded: one is stuck. Twice is fine."""
        _open.discard(self)
        if self._handle.closed:
            return
        for answers in list(self._served):
            answers.close()
        try:
            self._lib.call(self._lib.bh_runtime_close, self._handle.raw, max(0, int(timeout * 1000)))
        finally:
            self._handle.free()


@atexit.register
def _close_all() -> None:
    for runtime in list(_open):
        try:
            runtime.close(2.0)
        except Exception:  # at the end there is nobody to tell
            pass
