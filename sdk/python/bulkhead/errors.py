"""What goes wrong, as exceptions: one class per code of abi/errors.md, all below BulkheadError."""
from typing import Any, Dict, Mapping, Type


class BulkheadError(Exception):
    """A call failed.

    code: the number of abi/errors.md. message: a sentence. details: a dict; its "reason" is a stable
    word to branch on, "field" names what was wrong, "remedy" says what helps, where they are known.
    """

    code = 2

    def __init__(self, message: str, details: Mapping[str, Any] = {}) -> None:
        super().__init__(message)
        self.message = message
        self.details: Dict[str, Any] = dict(details)

    @property
    def reason(self) -> str:
        """The stable word, or an empty text."""
        word = self.details.get("reason", "")
        return word if isinstance(word, str) else ""

    def __reduce__(self) -> Any:  # exceptions cross process pools
        return (type(self), (self.message, self.details))


class Cancelled(BulkheadError):
    """The caller asked for it."""
    code = 1


class Unknown(BulkheadError):
    """A code of a later library."""
    code = 2


class InvalidArgument(BulkheadError, ValueError):
    """Never retry unchanged."""
    code = 3


class DeadlineExceeded(BulkheadError, TimeoutError):
    """The time was over; it may have been done all the same."""
    code = 4


class NotFound(BulkheadError, LookupError):
    """There is no such thing, or it is another persona's."""
    code = 5


class AlreadyExists(BulkheadError):
    """There is one already."""
    code = 6


class PermissionDenied(BulkheadError):
    """Policy said no."""
    code = 7


class ResourceExhausted(BulkheadError):
    """A quota, disk, threads, or a size limit."""
    code = 8


class FailedPrecondition(BulkheadError):
    """Fix the state first."""
    code = 9


class Aborted(BulkheadError):
    """Lost a race; restart the larger step."""
    code = 10


class OutOfRange(BulkheadError):
    """Past the end."""
    code = 11


class Unimplemented(BulkheadError):
    """Never by this one; ask another."""
    code = 12


class Internal(BulkheadError):
    """A bug, including a caught exception of a plugin."""
    code = 13


class Unavailable(BulkheadError):
    """Retry with back-off."""
    code = 14


class DataLoss(BulkheadError):
    """What was kept is damaged or gone."""
    code = 15


class Unauthenticated(BulkheadError):
    """Credentials missing or wrong."""
    code = 16


BY_CODE: Dict[int, Type[BulkheadError]] = {
    kind.code: kind
    for kind in (Cancelled, Unknown, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists,
                 PermissionDenied, ResourceExhausted, FailedPrecondition, Aborted, OutOfRange,
                 Unimplemented, Internal, Unavailable, DataLoss, Unauthenticated)
}


def error_for(code: int, message: str, details: Mapping[str, Any]) -> BulkheadError:
    """The exception of that code; one that this package does not know is Unknown."""
    return BY_CODE.get(code, Unknown)(message, details)


class ToolError(Exception):
    """Raised in a tool of yours: the caller gets the message as the tool's own error."""
