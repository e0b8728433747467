"""The operations of the noun log: session.log.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Logs(Generic[R, I, B, S, X]):
    """The operations of the noun log: session.log."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def follow(
            self, *, level: Optional[str] = None,
            call_timeout: Optional[float] = None) -> X:
        """Follows the log until it is cancelled: one's own records, the operator's session all.

        Gives: items {time_ms, level, message, plugin, persona, fields}.
        """
        return self._invoke("log.follow", {  # type: ignore[no-any-return]
            "level": level
        }, "run", None, call_timeout)
