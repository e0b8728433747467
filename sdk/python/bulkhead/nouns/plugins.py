"""The operations of the noun plugin: session.plugin.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Plugins(Generic[R, I, B, S, X]):
    """The operations of the noun plugin: session.plugin."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def list(
            self, *, probe: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Tells every plugin that was found, what became of it and why, and every place looked at.

        probe: Load them all, and ask each isolation backend whether it can work here.
        """
        return self._invoke("plugin.list", {  # type: ignore[no-any-return]
            "probe": probe
        }, "record", None, call_timeout)
