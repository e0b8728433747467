"""The operations on one sandbox that is at hand.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class BoundSandbox(Generic[R, I, B, S, X]):
    """The operations on one sandbox that is at hand."""

    def __init__(self, invoke: Any, id: str) -> None:
        self._invoke = invoke
        self._id = id

    def endpoint(
            self, port: int, *, call_timeout: Optional[float] = None) -> R:
        """Tells where a port inside is reached from the host.

        Reasons: ports_unsupported, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.endpoint", {  # type: ignore[no-any-return]
            "sandbox": self._id, "port": port
        }, "record", None, call_timeout)

    def exec(
            self, argv: Sequence[Union[str, bytes]], *, cwd: Optional[str] = None,
            env: Optional[Mapping[str, Any]] = None,
            user: Optional[Mapping[str, Any]] = None,
            limits: Optional[Mapping[str, Any]] = None, timeout_ms: Optional[int] = None,
            tty: Optional[Mapping[str, Any]] = None, input: Any = None,
            call_timeout: Optional[float] = None) -> R:
        """Runs one command to its end, in the sandbox named or in the persona's default one.

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
            "collect": True, "sandbox": self._id, "argv": argv, "cwd": cwd, "env": env,
            "user": user, "limits": limits, "timeout_ms": timeout_ms, "tty": tty
        }, "record", input, call_timeout)

    def get(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Tells what is known of a sandbox.

        Reasons: sandbox_not_found.
        """
        return self._invoke("sandbox.get", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def health(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Says whether commands can be run in a sandbox.

        Reasons: sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.health", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def interrupt(
            self, exec: str, *, grace_ms: Optional[int] = None,
            call_timeout: Optional[float] = None) -> R:
        """Ends one command or job with all of its processes: asked first, killed after a while.

        exec: As sandbox.exec's first item or job.start names it.
        grace_ms: Between SIGTERM and SIGKILL; 3000.
        Reasons: busy, exec_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.interrupt", {  # type: ignore[no-any-return]
            "sandbox": self._id, "exec": exec, "grace_ms": grace_ms
        }, "record", None, call_timeout)

    def kill(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Ends everything in a sandbox and removes it with its own folders.

        Reasons: sandbox_not_found.
        """
        return self._invoke("sandbox.kill", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def metrics(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Tells what a sandbox may use and what it uses now.

        Reasons: sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.metrics", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def pause(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Stops everything in a sandbox where it is.

        Reasons: pause_unsupported, sandbox_ended, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.pause", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def renew(
            self, timeout_ms: int, *, call_timeout: Optional[float] = None) -> R:
        """Sets the time after which a sandbox is ended, from now on.

        Reasons: sandbox_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.renew", {  # type: ignore[no-any-return]
            "sandbox": self._id, "timeout_ms": timeout_ms
        }, "record", None, call_timeout)

    def resize(
            self, exec: str, rows: int, cols: int, *,
            call_timeout: Optional[float] = None) -> R:
        """Tells a command's terminal its new size.

        Reasons: exec_ended, no_terminal, sandbox_not_found.
        """
        return self._invoke("sandbox.resize", {  # type: ignore[no-any-return]
            "sandbox": self._id, "exec": exec, "rows": rows, "cols": cols
        }, "record", None, call_timeout)

    def resume(
            self, *, call_timeout: Optional[float] = None) -> R:
        """Lets a paused sandbox go on.

        Reasons: pause_unsupported, sandbox_ended, sandbox_not_found, sandbox_state.
        """
        return self._invoke("sandbox.resume", {  # type: ignore[no-any-return]
            "sandbox": self._id
        }, "record", None, call_timeout)

    def signal(
            self, signal: int, *, exec: Optional[str] = None,
            call_timeout: Optional[float] = None) -> R:
        """Sends a signal to a command, or to all processes of a sandbox.

        signal: Linux's number.
        exec: Without it: all.
        Reasons: exec_ended, sandbox_not_found.
        """
        return self._invoke("sandbox.signal", {  # type: ignore[no-any-return]
            "sandbox": self._id, "signal": signal, "exec": exec
        }, "record", None, call_timeout)
