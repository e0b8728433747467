"""The operations of the noun files: session.files.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Files(Generic[R, I, B, S, X]):
    """The operations of the noun files: session.files."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def delete(
            self, path: str, *, recursive: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Deletes one of the persona's files, or a folder with all that it holds.

        path: Relative: parts between single slashes, none of them . or ..
        recursive: A folder that is not empty, too.
        Reasons: file_not_found, not_empty, path_invalid, store_unavailable.
        """
        return self._invoke("files.delete", {  # type: ignore[no-any-return]
            "path": path, "recursive": recursive
        }, "record", None, call_timeout)

    def export(
            self, path: str, to: Union[str, bytes], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, mode: Optional[int] = None,
            call_timeout: Optional[float] = None) -> R:
        """Copies one of the persona's stored files into a sandbox.

        path: In the file store.
        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        mode: Permission bits.
        Reasons: backend_not_permitted, backend_unavailable, file_changed, file_denied,
            file_not_found, files_unsupported, is_folder, no_space, path_invalid, read_only,
            sandbox_not_found, store_unavailable, workspace_refused.
        """
        return self._invoke("files.export", {  # type: ignore[no-any-return]
            "path": path, "to": to, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "mode": mode
        }, "record", None, call_timeout)

    def get(
            self, path: str, *, offset: Optional[int] = None, size: Optional[int] = None,
            call_timeout: Optional[float] = None) -> B:
        """Reads one of the persona's files, or a part of it.

        path: Relative: parts between single slashes, none of them . or ..
        size: Without it: to the end.
        Gives: the bytes on stream 3 (data).
        Reasons: file_changed, file_not_found, is_folder, path_invalid, store_unavailable.
        """
        return self._invoke("files.get", {  # type: ignore[no-any-return]
            "path": path, "offset": offset, "size": size
        }, "bytes", None, call_timeout)

    def import_(
            self, from_: Union[str, bytes], path: str, *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, media_type: Optional[str] = None,
            if_etag: Optional[str] = None, call_timeout: Optional[float] = None) -> R:
        """Stores a file of a sandbox, all or nothing, in place of what the persona had there.

        path: In the file store.
        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        if_etag: Only in place of that version; "*": only where there is none.
        Reasons: backend_not_permitted, backend_unavailable, etag_mismatch, file_denied,
            file_exists, file_not_found, files_unsupported, is_folder, path_invalid, quota,
            sandbox_not_found, store_unavailable, workspace_refused.
        """
        return self._invoke("files.import", {  # type: ignore[no-any-return]
            "from": from_, "path": path, "sandbox": sandbox, "backend": backend,
            "workspace": workspace, "profile": profile, "media_type": media_type,
            "if_etag": if_etag
        }, "record", None, call_timeout)

    def list(
            self, *, path: Optional[str] = None, recursive: Optional[bool] = None,
            after: Optional[str] = None, limit: Optional[int] = None,
            call_timeout: Optional[float] = None) -> I:
        """Lists the persona's files, or those of one folder, by name.

        path: A folder; without it, all that the persona has.
        after: Begins behind that name: `next` of the page before.
        Gives: items {path, kind, size, etag, media_type, modified_ms}.
        Reasons: file_not_found, not_a_folder, path_invalid, store_unavailable.
        """
        return self._invoke("files.list", {  # type: ignore[no-any-return]
            "path": path, "recursive": recursive, "after": after, "limit": limit
        }, "items", None, call_timeout)

    def put(
            self, path: str, *, content: Optional[Union[str, bytes]] = None,
            media_type: Optional[str] = None, if_etag: Optional[str] = None,
            input: Any = None, call_timeout: Optional[float] = None) -> R:
        """Stores one of the persona's files, all or nothing, in place of what it had there.

        path: Relative: parts between single slashes, none of them . or ..
        content: Text, or bytes as base64. Without it: the request's attachment, or else its input.
        if_etag: Only in place of that version; "*": only where there is none.
        input: the bytes, where neither `content` nor an attachment has them; bytes, text, a file,
            or an iterable of bytes.
        Reasons: etag_mismatch, file_exists, is_folder, not_a_folder, path_invalid, quota,
            store_unavailable.
        """
        return self._invoke("files.put", {  # type: ignore[no-any-return]
            "path": path, "content": content, "media_type": media_type, "if_etag":
            if_etag
        }, "record", input, call_timeout)

    def stat(
            self, path: str, *, call_timeout: Optional[float] = None) -> R:
        """Tells what one of the persona's files or folders is.

        path: Relative: parts between single slashes, none of them . or ..
        Reasons: file_not_found, path_invalid, store_unavailable.
        """
        return self._invoke("files.stat", {  # type: ignore[no-any-return]
            "path": path
        }, "record", None, call_timeout)
