"""box.files: the files that a process inside sees.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class BoundFiles(Generic[R, I, B, S, X]):
    """box.files: the files that a process inside sees."""

    def __init__(self, invoke: Any, id: str) -> None:
        self._invoke = invoke
        self._id = id

    def info(
            self, paths: Sequence[Union[str, bytes]], *, follow: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> I:
        """Says what each of the files is; one that is missing fails the whole.

        follow: To what a link leads; true without it.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, not_a_folder, path_invalid,
            sandbox_not_found.
        """
        return self._invoke("sandbox.file_info", {  # type: ignore[no-any-return]
            "sandbox": self._id, "paths": paths, "follow": follow
        }, "items", None, call_timeout)

    def list(
            self, path: Union[str, bytes], *, depth: Optional[int] = None,
            call_timeout: Optional[float] = None) -> I:
        """Lists what lies in a folder, links not followed.

        depth: 1: its entries alone.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.list_files", {  # type: ignore[no-any-return]
            "sandbox": self._id, "path": path, "depth": depth
        }, "items", None, call_timeout)

    def make_folders(
            self, entries: Sequence[Mapping[str, Any]], *,
            call_timeout: Optional[float] = None) -> R:
        """Makes folders and what is missing above them; one that is there already is fine.

        Reasons: file_denied, files_unsupported, no_space, not_a_folder, owner_unsupported,
            path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.make_folders", {  # type: ignore[no-any-return]
            "sandbox": self._id, "entries": entries
        }, "record", None, call_timeout)

    def move(
            self, moves: Sequence[Mapping[str, Any]], *, replace: Optional[bool] = None,
            parents: Optional[bool] = None, call_timeout: Optional[float] = None) -> R:
        """Moves or renames files and folders, in order, up to the first that fails.

        replace: Another file may be replaced.
        parents: Missing folders of the new place are made; true without it.
        Reasons: file_busy, file_denied, file_exists, file_not_found, files_unsupported, is_folder,
            no_space, not_a_folder, other_file_system, path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.move_files", {  # type: ignore[no-any-return]
            "sandbox": self._id, "moves": moves, "replace": replace, "parents": parents
        }, "record", None, call_timeout)

    def read(
            self, path: Union[str, bytes], *, offset: Optional[int] = None,
            size: Optional[int] = None, call_timeout: Optional[float] = None) -> B:
        """Reads a file, or a part of it. Paths are as a process inside sees them; what is relative
        begins in the workspace.

        size: Without it: to the end.
        Gives: stream 3 (data): the bytes.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.read_file", {  # type: ignore[no-any-return]
            "sandbox": self._id, "path": path, "offset": offset, "size": size
        }, "bytes", None, call_timeout)

    def remove(
            self, paths: Sequence[Union[str, bytes]], *, missing_ok: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Removes files and links, in order, up to the first that fails; folders are refused.

        missing_ok: What is not there is fine; true without it.
        Reasons: file_busy, file_denied, file_not_found, files_unsupported, is_folder, path_invalid,
            read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.remove_files", {  # type: ignore[no-any-return]
            "sandbox": self._id, "paths": paths, "missing_ok": missing_ok
        }, "record", None, call_timeout)

    def remove_folders(
            self, paths: Sequence[Union[str, bytes]], *, missing_ok: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Removes folders with all that they hold; links in them are removed, not followed.

        missing_ok: What is not there is fine; true without it.
        Reasons: file_busy, file_denied, file_not_found, files_unsupported, not_a_folder, not_empty,
            path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.remove_folders", {  # type: ignore[no-any-return]
            "sandbox": self._id, "paths": paths, "missing_ok": missing_ok
        }, "record", None, call_timeout)

    def replace(
            self, edits: Sequence[Mapping[str, Any]], *,
            call_timeout: Optional[float] = None) -> R:
        """Replaces every occurrence of a text in files of 64 MiB at most; their modes stay.

        Reasons: file_busy, file_denied, file_not_found, files_unsupported, is_folder, no_space,
            not_a_file, path_invalid, read_only, sandbox_not_found, too_large.
        """
        return self._invoke("sandbox.replace_in_files", {  # type: ignore[no-any-return]
            "sandbox": self._id, "edits": edits
        }, "record", None, call_timeout)

    def search(
            self, path: Union[str, bytes], pattern: str, *, limit: Optional[int] = None,
            call_timeout: Optional[float] = None) -> I:
        """Finds regular files by pattern below a folder.

        pattern: * ? [a-z] [!a-z] within a name, ** across folders. With a / it is matched on the
            path below `path`, else on the name.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.search_files", {  # type: ignore[no-any-return]
            "sandbox": self._id, "path": path, "pattern": pattern, "limit": limit
        }, "items", None, call_timeout)

    def set_permissions(
            self, entries: Sequence[Mapping[str, Any]], *,
            call_timeout: Optional[float] = None) -> R:
        """Sets mode, owner or group of files and folders; what is left out stays as it is.

        Reasons: file_denied, file_not_found, files_unsupported, owner_unsupported, path_invalid,
            read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.set_permissions", {  # type: ignore[no-any-return]
            "sandbox": self._id, "entries": entries
        }, "record", None, call_timeout)

    def write(
            self, path: Union[str, bytes], *, content: Optional[Union[str, bytes]] = None,
            mode: Optional[int] = None, owner: Optional[str] = None,
            group: Optional[str] = None, append: Optional[bool] = None,
            create_only: Optional[bool] = None, parents: Optional[bool] = None,
            input: Any = None, call_timeout: Optional[float] = None) -> R:
        """Writes a file, whole or not at all (but for append): from content, from the one attachment,
        else from the input.

        mode: Permission bits: 420 is 0644.
        create_only: Refused where there is one.
        parents: Missing folders are made; true without it.
        input: the bytes, without content and attachment; bytes, text, a file, or an iterable of
            bytes.
        Reasons: file_busy, file_denied, file_exists, file_not_found, files_unsupported, is_folder,
            no_space, not_a_file, not_a_folder, owner_unsupported, path_invalid, read_only,
            sandbox_not_found.
        """
        return self._invoke("sandbox.write_file", {  # type: ignore[no-any-return]
            "sandbox": self._id, "path": path, "content": content, "mode": mode,
            "owner": owner, "group": group, "append": append, "create_only":
            create_only, "parents": parents
        }, "record", input, call_timeout)
