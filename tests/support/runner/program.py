"""Runs one program to its end, or to its time limit, and leaves nothing of it behind.

The runner is the reaper of everything that its programs orphan (PR_SET_CHILD_SUBREAPER), so a
daemon that a test double-forks away is seen here: it is killed at the end and named.
"""
import ctypes
import os
import select
import signal
import socket
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36


class Outcome:
    """How a program ended. `code` is None where a signal or the time limit ended it."""

    def __init__(self):
        self.code = None
        self.signal = None
        self.timed_out = False
        self.seconds = 0.0
        self.leftovers = []
        self.log = None

    def why(self):
        """One phrase for what went wrong, empty when nothing did."""
        if self.timed_out:
            return f"over its time limit after {self.seconds:.0f} s"
        if self.signal is not None:
            return f"ended by {signal.Signals(self.signal).name}"
        if self.code != 0:
            return f"exit code {self.code}"
        if self.leftovers:
            return "left running: " + ", ".join(self.leftovers)
        return ""

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def tail(self, count=12):
        return self.text().rstrip().split("\n")[-count:]


class Wakeup:
    """A pollable end for SIGCHLD, so that waiting costs no polling."""

    def __init__(self):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.reader, writer = socket.socketpair()
        self.reader.setblocking(False)
        writer.setblocking(False)
        self.writer = writer
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def wait(self, seconds):
        select.select([self.reader], [], [], max(0.0, seconds))
        try:
            while self.reader.recv(4096):
                pass
        except BlockingIOError:
            pass


_wakeup = None
_beside = set()  # children of ours that are no program's


def forget_parent():
    """In a child that was forked off, before its first run()."""
    global _wakeup
    _wakeup = None
    _beside.clear()
    signal.set_wakeup_fd(-1)


def goes_beside(pid):
    """A child that runs while programs do: none of them has left it, and it is taken in when it ends."""
    _beside.add(pid)


def _yields(pid):
    """Whatever else wants the processors comes first. Each session has a share of its own, so that
    niceness alone would count among its own processes only."""
    try:
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as stream:
            stream.write("19")
    except OSError:
        pass  # a kernel without such shares


def run(argv, log, limit, cwd=None, env=None, yielding=False):
    """Runs argv with its output in the file `log`, for at most `limit` seconds."""
    global _wakeup
    if _wakeup is None:
        _wakeup = Wakeup()
    outcome = Outcome()
    outcome.log = log
    os.makedirs(os.path.dirname(log), exist_ok=True)
    started = time.monotonic()
    with open(log, "wb") as stream:
        child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=stream,
                                 stderr=subprocess.STDOUT, start_new_session=True)
    if yielding:
        _yields(child.pid)
    try:
        status = _wait(child.pid, started + limit, outcome)
    except BaseException:
        # Whoever stops us stops it, too.
        os.killpg(child.pid, signal.SIGKILL)
        raise
    child.returncode = status
    outcome.seconds = time.monotonic() - started
    outcome.leftovers = _end_orphans(2.0)
    if outcome.timed_out:
        return outcome
    if os.WIFSIGNALED(status):
        outcome.signal = os.WTERMSIG(status)
    else:
        outcome.code = os.WEXITSTATUS(status)
    return outcome


def _wait(pid, until, outcome):
    """Its status, which is SIGKILL's where it has not ended by then."""
    status = None
    while status is None:
        status = _reap(pid)
        left = until - time.monotonic()
        if status is None and left <= 0:
            outcome.timed_out = True
            os.killpg(pid, signal.SIGKILL)
            while status is None:
                _wakeup.wait(1)
                status = _reap(pid)
        elif status is None:
            _wakeup.wait(left)
    return status


def _reap(wanted):
    """Takes in every child that has ended; the status of `wanted` when it is among them."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        _beside.discard(pid)
        if pid == wanted:
            found = status


def _children():
    """Our children that still run, as {pid: name}."""
    mine = os.getpid()
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stream:
                head, _, rest = stream.read().rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        if int(fields[1]) == mine and fields[0] not in "ZX" and int(entry) not in _beside:
            found[int(entry)] = f"{head.partition('(')[2]} ({entry})"
    return found


def _end_orphans(grace):
    """Gives orphans a moment to end by themselves, kills what is left, and names it."""
    deadline = time.monotonic() + grace
    while True:
        _reap(-1)
        running = _children()
        if not running:
            return []
        left = deadline - time.monotonic()
        if left <= 0:
            break
        _wakeup.wait(left)
    names = sorted(running.values())
    # Each kill may hand us the next generation.
    while running:
        for pid in running:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _wakeup.wait(0.5)
        _reap(-1)
        running = _children()
    return names
