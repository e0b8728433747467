"""The operations of the noun host: session.host.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Hosts(Generic[R, I, B, S, X]):
    """The operations of the noun host: session.host."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def inspect(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Tells what this host is, where its data lies and what its defaults are."""
        return self._invoke("host.inspect", {  # type: ignore[no-any-return]
        }, "record", None, call_timeout)
