"""The operations of the noun operation: session.operation.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Operations(Generic[R, I, B, S, X]):
    """The operations of the noun operation: session.operation."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def list(
            self, *, call_timeout: Optional[float] = None) -> I:
        """Lists all operations with their schemas.

        Gives: items {name, version, summary, args, result, input, output, lane, quick, repeatable,
            reasons}.
        """
        return self._invoke("operation.list", {  # type: ignore[no-any-return]
        }, "items", None, call_timeout)
