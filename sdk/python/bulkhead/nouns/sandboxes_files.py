"""The operations of session.sandbox on files inside.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class SandboxesFiles(Generic[R, I, B, S, X]):
    """The operations of session.sandbox on files inside."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def file_info(
            self, paths: Sequence[Union[str, bytes]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, follow: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> I:
        """Says what each of the files is; one that is missing fails the whole.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        follow: To what a link leads; true without it.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, not_a_folder, path_invalid,
            sandbox_not_found.
        """
        return self._invoke("sandbox.file_info", {  # type: ignore[no-any-return]
            "paths": paths, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "follow": follow
        }, "items", None, call_timeout)

    def list_files(
            self, path: Union[str, bytes], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, depth: Optional[int] = None,
            call_timeout: Optional[float] = None) -> I:
        """Lists what lies in a folder, links not followed.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        depth: 1: its entries alone.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.list_files", {  # type: ignore[no-any-return]
            "path": path, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "depth": depth
        }, "items", None, call_timeout)

    def make_folders(
            self, entries: Sequence[Mapping[str, Any]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> R:
        """Makes folders and what is missing above them; one that is there already is fine.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        Reasons: file_denied, files_unsupported, no_space, not_a_folder, owner_unsupported,
            path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.make_folders", {  # type: ignore[no-any-return]
            "entries": entries, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile
        }, "record", None, call_timeout)

    def move_files(
            self, moves: Sequence[Mapping[str, Any]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, replace: Optional[bool] = None,
            parents: Optional[bool] = None, call_timeout: Optional[float] = None) -> R:
        """Moves or renames files and folders, in order, up to the first that fails.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        replace: Another file may be replaced.
        parents: Missing folders of the new place are made; true without it.
        Reasons: file_busy, file_denied, file_exists, file_not_found, files_unsupported, is_folder,
            no_space, not_a_folder, other_file_system, path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.move_files", {  # type: ignore[no-any-return]
            "moves": moves, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "replace": replace, "parents": parents
        }, "record", None, call_timeout)

    def read_file(
            self, path: Union[str, bytes], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, offset: Optional[int] = None,
            size: Optional[int] = None, call_timeout: Optional[float] = None) -> B:
        """Reads a file, or a part of it. Paths are as a process inside sees them; what is relative
        begins in the workspace.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        size: Without it: to the end.
        Gives: stream 3 (data): the bytes.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.read_file", {  # type: ignore[no-any-return]
            "path": path, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "offset": offset, "size": size
        }, "bytes", None, call_timeout)

    def remove_files(
            self, paths: Sequence[Union[str, bytes]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, missing_ok: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Removes files and links, in order, up to the first that fails; folders are refused.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        missing_ok: What is not there is fine; true without it.
        Reasons: file_busy, file_denied, file_not_found, files_unsupported, is_folder, path_invalid,
            read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.remove_files", {  # type: ignore[no-any-return]
            "paths": paths, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "missing_ok": missing_ok
        }, "record", None, call_timeout)

    def remove_folders(
            self, paths: Sequence[Union[str, bytes]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, missing_ok: Optional[bool] = None,
            call_timeout: Optional[float] = None) -> R:
        """Removes folders with all that they hold; links in them are removed, not followed.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        missing_ok: What is not there is fine; true without it.
        Reasons: file_busy, file_denied, file_not_found, files_unsupported, not_a_folder, not_empty,
            path_invalid, read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.remove_folders", {  # type: ignore[no-any-return]
            "paths": paths, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "missing_ok": missing_ok
        }, "record", None, call_timeout)

    def replace_in_files(
            self, edits: Sequence[Mapping[str, Any]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> R:
        """Replaces every occurrence of a text in files of 64 MiB at most; their modes stay.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        Reasons: file_busy, file_denied, file_not_found, files_unsupported, is_folder, no_space,
            not_a_file, path_invalid, read_only, sandbox_not_found, too_large.
        """
        return self._invoke("sandbox.replace_in_files", {  # type: ignore[no-any-return]
            "edits": edits, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile
        }, "record", None, call_timeout)

    def search_files(
            self, path: Union[str, bytes], pattern: str, *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, limit: Optional[int] = None,
            call_timeout: Optional[float] = None) -> I:
        """Finds regular files by pattern below a folder.

        pattern: * ? [a-z] [!a-z] within a name, ** across folders. With a / it is matched on the
            path below `path`, else on the name.
        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        Gives: items {path, name, kind (file, folder, symlink or other), size, modified_ms,
            created_ms, mode, owner, group}, with target for a symlink.
        Reasons: file_denied, file_not_found, files_unsupported, is_folder, not_a_file,
            not_a_folder, path_invalid, sandbox_not_found.
        """
        return self._invoke("sandbox.search_files", {  # type: ignore[no-any-return]
            "path": path, "pattern": pattern, "sandbox": sandbox, "backend": backend,
            "workspace": workspace, "profile": profile, "limit": limit
        }, "items", None, call_timeout)

    def set_permissions(
            self, entries: Sequence[Mapping[str, Any]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> R:
        """Sets mode, owner or group of files and folders; what is left out stays as it is.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
        Reasons: file_denied, file_not_found, files_unsupported, owner_unsupported, path_invalid,
            read_only, sandbox_not_found.
        """
        return self._invoke("sandbox.set_permissions", {  # type: ignore[no-any-return]
            "entries": entries, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile
        }, "record", None, call_timeout)

    def write_file(
            self, path: Union[str, bytes], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None,
            content: Optional[Union[str, bytes]] = None, mode: Optional[int] = None,
            owner: Optional[str] = None, group: Optional[str] = None,
            append: Optional[bool] = None, create_only: Optional[bool] = None,
            parents: Optional[bool] = None, input: Any = None,
            call_timeout: Optional[float] = None) -> R:
        """Writes a file, whole or not at all (but for append): from content, from the one attachment,
        else from the input.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: As of sandbox.create.
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
            "path": path, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "content": content, "mode": mode, "owner":
            owner, "group": group, "append": append, "create_only": create_only,
            "parents": parents
        }, "record", input, call_timeout)
