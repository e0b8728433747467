"""The operations of the noun tool: session.tool.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Tools(Generic[R, I, B, S, X]):
    """The operations of the noun tool: session.tool."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def call(
            self, name: str, *, arguments: Optional[Mapping[str, Any]] = None,
            input: Any = None, call_timeout: Optional[float] = None) -> R:
        """Calls one tool; its arguments are checked against its schema first.

        input: what the tool reads; most read nothing; bytes, text, a file, or an iterable of bytes.
        Gives: what the tool sends: streams, progress, attachments that the result names.
        Reasons: plugin_misuse, schema, unknown_tool.
        """
        return self._invoke("tool.call", {  # type: ignore[no-any-return]
            "name": name, "arguments": arguments
        }, "record", input, call_timeout)

    def list(
            self, *, call_timeout: Optional[float] = None) -> I:
        """Lists all tools that this session can call.

        Gives: items: abi/schemas/tool.json, with plugin and toolset.
        """
        return self._invoke("tool.list", {  # type: ignore[no-any-return]
        }, "items", None, call_timeout)
