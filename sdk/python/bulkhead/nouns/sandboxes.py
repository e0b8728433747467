"""The operations of the noun sandbox: session.sandbox.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

from .sandboxes_files import SandboxesFiles

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Sandboxes(SandboxesFiles[R, I, B, S, X]):
    """The operations of the noun sandbox: session.sandbox."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def connect(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> S:
        """Opens a sandbox, and tells of it as sandbox.get; "failed" where its backend lost it.

        Reasons: backend_unavailable, not_enforced, sandbox_not_found.
        """
        return self._invoke("sandbox.connect", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "sandbox", None, call_timeout)

    def create(
            self, *, backend: Optional[str] = None, workspace: Optional[str] = None,
            image: Optional[str] = None, profile: Optional[Mapping[str, Any]] = None,
            timeout_ms: Optional[int] = None, env: Optional[Mapping[str, Any]] = None,
            metadata: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> S:
        """Makes a sandbox with folders of its own; it lasts until it is killed or its time is over.

        workspace: A folder of the host; short for profile.workspace.source.
        image: What it starts from, by name: an image of the store (image.list), or one of the names
            under "images" in the configuration; short for profile.root.image.
        profile: What a sandbox may see, reach and use. One profile is lowered to every backend;
            each answers with an enforcement report (enforcement.json), one line per rule. The name
            of a rule is the dotted path of its key (network.mode, limits.memory_bytes); entries of
            files, mounts and env are named by what they are about: files:/home/u/.ssh,
            mounts:/data.
        timeout_ms: It is ended that long after it was made; without it, never. sandbox.renew
            changes that.
        env: Of all its commands; what a command names itself comes first.
        metadata: For the caller's own use; sandbox.list finds by it.
        Reasons: backend_not_permitted, backend_unavailable, contradiction, exec_option_unsupported,
            image_unknown, image_unsupported, not_enforced, sandbox_limit, too_large, variable,
            workspace_refused.
        """
        return self._invoke("sandbox.create", {  # type: ignore[no-any-return]
            "backend": backend, "workspace": workspace, "image": image, "profile":
            profile, "timeout_ms": timeout_ms, "env": env, "metadata": metadata
        }, "sandbox", None, call_timeout)

    def endpoint(
            self, sandbox: str, port: int, *, call_timeout: Optional[float] = None) -> R:
        """Tells where a port inside is reached from the host.

        Reasons: ports_unsupported, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.endpoint", {  # type: ignore[no-any-return]
            "sandbox": sandbox, "port": port
        }, "record", None, call_timeout)

    def exec(
            self, argv: Sequence[Union[str, bytes]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, cwd: Optional[str] = None,
            env: Optional[Mapping[str, Any]] = None,
            user: Optional[Mapping[str, Any]] = None,
            limits: Optional[Mapping[str, Any]] = None, timeout_ms: Optional[int] = None,
            tty: Optional[Mapping[str, Any]] = None, input: Any = None,
            call_timeout: Optional[float] = None) -> R:
        """Runs one command to its end, in the sandbox named or in the persona's default one.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: What a sandbox may see, reach and use. One profile is lowered to every backend;
            each answers with an enforcement report (enforcement.json), one line per rule. The name
            of a rule is the dotted path of its key (network.mode, limits.memory_bytes); entries of
            files, mounts and env are named by what they are about: files:/home/u/.ssh,
            mounts:/data.
        timeout_ms: Of this command; the profile's limit holds beside it.
        input: the command's stdin; without input it is empty; bytes, text, a file, or an iterable
            of bytes.
        Gives: first an item {started:{sandbox, exec, backend, enforcement}}; streams 1 (stdout) and
            2 (stderr).
        Reasons: backend_not_permitted, backend_unavailable, exec_option_unsupported, image_unknown,
            image_unsupported, not_enforced, sandbox_ended, sandbox_not_found, sandbox_owned,
            sandbox_state, workspace_refused.
        """
        return self._invoke("sandbox.exec", {  # type: ignore[no-any-return]
            "collect": True, "argv": argv, "sandbox": sandbox, "backend": backend,
            "workspace": workspace, "profile": profile, "cwd": cwd, "env": env, "user":
            user, "limits": limits, "timeout_ms": timeout_ms, "tty": tty
        }, "record", input, call_timeout)

    def get(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Tells what is known of a sandbox.

        Reasons: sandbox_not_found.
        """
        return self._invoke("sandbox.get", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def health(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Says whether commands can be run in a sandbox.

        Reasons: sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.health", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def interrupt(
            self, sandbox: str, exec: str, *, grace_ms: Optional[int] = None,
            call_timeout: Optional[float] = None) -> R:
        """Ends one command or job with all of its processes: asked first, killed after a while.

        exec: As sandbox.exec's first item or job.start names it.
        grace_ms: Between SIGTERM and SIGKILL; 3000.
        Reasons: busy, exec_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.interrupt", {  # type: ignore[no-any-return]
            "sandbox": sandbox, "exec": exec, "grace_ms": grace_ms
        }, "record", None, call_timeout)

    def kill(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Ends everything in a sandbox and removes it with its own folders.

        Reasons: sandbox_not_found.
        """
        return self._invoke("sandbox.kill", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def list(
            self, *, states: Optional[Sequence[str]] = None,
            metadata: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> I:
        """Lists the persona's sandboxes; the operator's session lists all.

        states: One of these.
        metadata: All of these, with these values.
        Gives: items as sandbox.get, without enforcement.
        """
        return self._invoke("sandbox.list", {  # type: ignore[no-any-return]
            "states": states, "metadata": metadata
        }, "items", None, call_timeout)

    def metrics(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Tells what a sandbox may use and what it uses now.

        Reasons: sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.metrics", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def pause(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Stops everything in a sandbox where it is.

        Reasons: pause_unsupported, sandbox_ended, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.pause", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def plan(
            self, *, backend: Optional[str] = None, workspace: Optional[str] = None,
            image: Optional[str] = None, profile: Optional[Mapping[str, Any]] = None,
            call_timeout: Optional[float] = None) -> R:
        """Says what a sandbox of that shape would enforce, and makes none.

        workspace: A folder of the host; short for profile.workspace.source.
        image: What it starts from, by name: an image of the store (image.list), or one of the names
            under "images" in the configuration; short for profile.root.image.
        profile: What a sandbox may see, reach and use. One profile is lowered to every backend;
            each answers with an enforcement report (enforcement.json), one line per rule. The name
            of a rule is the dotted path of its key (network.mode, limits.memory_bytes); entries of
            files, mounts and env are named by what they are about: files:/home/u/.ssh,
            mounts:/data.
        Reasons: backend_not_permitted, backend_unavailable, contradiction, image_unknown,
            image_unsupported, too_large, workspace_refused.
        """
        return self._invoke("sandbox.plan", {  # type: ignore[no-any-return]
            "backend": backend, "workspace": workspace, "image": image, "profile":
            profile
        }, "record", None, call_timeout)

    def renew(
            self, sandbox: str, timeout_ms: int, *,
            call_timeout: Optional[float] = None) -> R:
        """Sets the time after which a sandbox is ended, from now on.

        Reasons: sandbox_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.renew", {  # type: ignore[no-any-return]
            "sandbox": sandbox, "timeout_ms": timeout_ms
        }, "record", None, call_timeout)

    def resize(
            self, sandbox: str, exec: str, rows: int, cols: int, *,
            call_timeout: Optional[float] = None) -> R:
        """Tells a command's terminal its new size.

        Reasons: exec_ended, no_terminal, sandbox_not_found.
        """
        return self._invoke("sandbox.resize", {  # type: ignore[no-any-return]
            "sandbox": sandbox, "exec": exec, "rows": rows, "cols": cols
        }, "record", None, call_timeout)

    def resume(
            self, sandbox: str, *, call_timeout: Optional[float] = None) -> R:
        """Lets a paused sandbox go on.

        Reasons: pause_unsupported, sandbox_ended, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.resume", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "record", None, call_timeout)

    def signal(
            self, sandbox: str, signal: int, *, exec: Optional[str] = None,
            call_timeout: Optional[float] = None) -> R:
        """Sends a signal to a command, or to all processes of a sandbox.

        signal: Linux's number.
        exec: Without it: all.
        Reasons: exec_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.signal", {  # type: ignore[no-any-return]
            "sandbox": sandbox, "signal": signal, "exec": exec
        }, "record", None, call_timeout)
