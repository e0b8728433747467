"""What every fault has to satisfy, in one place."""
import ctypes
import os
import re
import signal
import time

from ways import Fault

PR_SET_CHILD_SUBREAPER = 36
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Skip(Exception):
    """It cannot be tried here; says why."""


def words_of_errors():
    """The reason words that abi/errors.md knows."""
    with open(os.path.join(TOP, "abi/errors.md"), encoding="utf-8") as file:
        return set(re.findall(r"`([a-z][a-z0-9_]+)`", file.read()))


KNOWN = words_of_errors()


def fault(action, code=None, reason=None, field=None, says=(), remedy=True):
    """Runs it and looks at its fault. code, reason: one or several that are right. Returns it."""
    try:
        answer = action()
    except Fault as found:
        problems = []
        if code and found.code not in (code if isinstance(code, tuple) else (code,)):
            problems.append(f"the code is {found.code}, not {code}")
        if reason and found.reason not in (reason if isinstance(reason, tuple) else (reason,)):
            problems.append(f"the reason is {found.reason!r}, not {reason!r}")
        if found.reason not in KNOWN:
            problems.append(f"{found.reason!r} is no reason word of abi/errors.md")
        if field is not None and found.field != field:
            problems.append(f"the field is {found.field!r}, not {field!r}")
        for words in says:
            if words not in found.message + found.remedy:
                problems.append(f"it does not say {words!r}")
        if remedy and not found.remedy:
            problems.append("it names no next step")
        if not found.message or "\n" in found.message.strip():
            problems.append("the message is not one sentence")
        if problems:
            raise AssertionError(f"{'; '.join(problems)}: {found.code} {found.message!r} "
                                 f"{found.details}") from None
        return found
    raise AssertionError(f"no fault; the answer was {str(answer)[:300]}")


def equal(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what} is {got!r}, not {expected!r}")


def become_reaper():
    """Whatever a child leaves behind becomes a child of this process."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def nothing_left(patience=10.0):
    """All children are gone within that time; those that are not are named and ended."""
    until = time.monotonic() + patience
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        left = children()
        if not left:
            return
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    names = [f"{pid} ({command_of(pid)[:120]})" for pid in left]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    raise AssertionError("left running: " + ", ".join(names))


def peak_kib(pid):
    """The most memory that the process ever had; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def lasting(place, cli):
    """Writes a file in a sandbox and gives a function that checks that it is there still."""
    cli.call("sandbox_files", {"operation": "write", "path": "kept.txt", "content": "kept"})

    def check():
        answer = cli.call("sandbox_files", {"operation": "read", "path": "kept.txt"})
        if "kept" not in str(answer):
            raise AssertionError(f"what was written before is not there: {answer}")
    return check
