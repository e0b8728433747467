"""What a run tells while it goes on, and what a call gives at its end."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Union


class Record(Dict[str, Any]):
    """A JSON object whose members read as attributes too: `done.exit.code`.

    A name that a dict has for itself (`items`, `get`, `keys` …) reads by subscript alone.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here, only {', '.join(self) or 'nothing'}") from None


@dataclass(frozen=True)
class Output:
    """Bytes of a stream: 1 stdout, 2 stderr, 3 data."""
    stream: int
    data: bytes


@dataclass(frozen=True)
class Item:
    """One element of a list or watch."""
    value: Any


@dataclass(frozen=True)
class Progress:
    """How far it is; a JSON object. Some may be left out where nobody reads."""
    value: Any


@dataclass(frozen=True)
class Attachment:
    """Bytes with a name and a media type. With `stream` (above 64 MiB) they are empty here and
    follow as Output of that stream; an Output without bytes ends it."""
    name: str
    type: str
    data: bytes
    stream: int = 0


Event = Union[Output, Item, Progress, Attachment]


@dataclass
class Reply:
    """All that one call gave."""
    result: Any = None
    items: List[Any] = field(default_factory=list)
    output: Dict[int, bytes] = field(default_factory=dict)
    attachments: List[Attachment] = field(default_factory=list)

    @property
    def stdout(self) -> bytes:
        return self.output.get(1, b"")

    @property
    def stderr(self) -> bytes:
        return self.output.get(2, b"")

    @property
    def data(self) -> bytes:
        return self.output.get(3, b"")
