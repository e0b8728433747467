"""The operations of the noun image: session.image.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Images(Generic[R, I, B, S, X]):
    """The operations of the noun image: session.image."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def import_(
            self, *, path: Optional[str] = None, name: Optional[str] = None,
            reference: Optional[str] = None, platform: Optional[str] = None,
            replace: Optional[bool] = None, input: Any = None,
            call_timeout: Optional[float] = None) -> R:
        """Unpacks an image into the store, by a confined program: a folder, an OCI layout, what
        `docker save` writes, or a tar of a root file system.

        path: Of the host, absolute; the operator's session alone. Without it: the input.
        name: Default: what the image calls itself, else its file's name.
        reference: Which of several images in it, by its name or tag there.
        platform: os/architecture as OCI has them; default: this machine's.
        replace: Also where another image has that name.
        input: an archive's bytes, where there is no path; bytes, text, a file, or an iterable of
            bytes.
        Gives: progress {entries, bytes, message}.
        Reasons: image_ambiguous, image_broken, image_denied, image_exists, image_format,
            image_name, image_owner, image_platform, image_too_large, image_unpack, image_unsafe,
            no_space, quota, source, unpack_confinement.
        """
        return self._invoke("image.import", {  # type: ignore[no-any-return]
            "path": path, "name": name, "reference": reference, "platform": platform,
            "replace": replace
        }, "record", input, call_timeout)

    def inspect(
            self, image: str, *, call_timeout: Optional[float] = None) -> R:
        """Tells all that is known of an image.

        image: Its name or digest.
        Reasons: image_unknown.
        """
        return self._invoke("image.inspect", {  # type: ignore[no-any-return]
            "image": image
        }, "record", None, call_timeout)

    def list(
            self, *, call_timeout: Optional[float] = None) -> I:
        """Lists the persona's images and those that the operator shares; the operator's session lists
        all.

        Gives: items {name, digest, kind, size, entries, created_ms, os, arch, shared}.
        """
        return self._invoke("image.list", {  # type: ignore[no-any-return]
        }, "items", None, call_timeout)

    def remove(
            self, image: str, *, call_timeout: Optional[float] = None) -> R:
        """Takes an image's name away, and the image with its last one.

        image: Its name or digest.
        Reasons: image_denied, image_in_use, image_unknown.
        """
        return self._invoke("image.remove", {  # type: ignore[no-any-return]
            "image": image
        }, "record", None, call_timeout)
