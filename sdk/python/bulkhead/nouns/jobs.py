"""The operations of the noun job: session.job.

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run


class Jobs(Generic[R, I, B, S, X]):
    """The operations of the noun job: session.job."""

    def __init__(self, invoke: Any) -> None:
        self._invoke = invoke

    def attach(
            self, job: str, *, cursor: Optional[int] = None, follow: Optional[bool] = None,
            max_bytes: Optional[int] = None, call_timeout: Optional[float] = None) -> X:
        """Gives a job's output from a byte on; its end, or the caller's, leaves the job alone.

        cursor: A byte of stdout and stderr as they came; 0, or "next" of an earlier call.
        follow: Until the job ends; without it, what is there now.
        Gives: streams 1 (stdout) and 2 (stderr).
        Reasons: job_cursor, job_not_found.
        """
        return self._invoke("job.attach", {  # type: ignore[no-any-return]
            "job": job, "cursor": cursor, "follow": follow, "max_bytes": max_bytes
        }, "run", None, call_timeout)

    def forget(
            self, job: str, *, call_timeout: Optional[float] = None) -> R:
        """Removes a job that has ended, and its output.

        Reasons: job_not_found, job_running.
        """
        return self._invoke("job.forget", {  # type: ignore[no-any-return]
            "job": job
        }, "record", None, call_timeout)

    def get(
            self, job: str, *, call_timeout: Optional[float] = None) -> R:
        """Tells what is known of a job.

        Reasons: job_not_found.
        """
        return self._invoke("job.get", {  # type: ignore[no-any-return]
            "job": job
        }, "record", None, call_timeout)

    def list(
            self, *, sandbox: Optional[str] = None,
            call_timeout: Optional[float] = None) -> I:
        """Lists the persona's jobs, also those that ended in the last day; the operator's session
        lists all.

        sandbox: Those of this one alone, also after its end.
        Gives: items as job.get.
        Reasons: sandbox_not_found.
        """
        return self._invoke("job.list", {  # type: ignore[no-any-return]
            "sandbox": sandbox
        }, "items", None, call_timeout)

    def start(
            self, argv: Sequence[Union[str, bytes]], *, sandbox: Optional[str] = None,
            backend: Optional[str] = None, workspace: Optional[str] = None,
            profile: Optional[Mapping[str, Any]] = None, cwd: Optional[str] = None,
            env: Optional[Mapping[str, Any]] = None,
            user: Optional[Mapping[str, Any]] = None,
            limits: Optional[Mapping[str, Any]] = None, timeout_ms: Optional[int] = None,
            call_timeout: Optional[float] = None) -> R:
        """Starts a command that goes on after this call, until it ends, is ended, or this process
        closes.

        sandbox: Without it: the persona's default sandbox of the shape that backend, profile and
            workspace give.
        profile: What a sandbox may see, reach and use. One profile is lowered to every backend;
            each answers with an enforcement report (enforcement.json), one line per rule. The name
            of a rule is the dotted path of its key (network.mode, limits.memory_bytes); entries of
            files, mounts and env are named by what they are about: files:/home/u/.ssh,
            mounts:/data.
        timeout_ms: Of this command; the profile's limit holds beside it.
        Reasons: backend_not_permitted, backend_unavailable, exec_option_unsupported, image_unknown,
            image_unsupported, not_enforced, pool_full, sandbox_ended, sandbox_not_found,
            sandbox_owned, sandbox_state, too_large, too_many_jobs, workspace_refused.
        """
        return self._invoke("job.start", {  # type: ignore[no-any-return]
            "argv": argv, "sandbox": sandbox, "backend": backend, "workspace":
            workspace, "profile": profile, "cwd": cwd, "env": env, "user": user,
            "limits": limits, "timeout_ms": timeout_ms
        }, "record", None, call_timeout)
