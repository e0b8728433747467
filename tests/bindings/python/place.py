"""A runtime with folders of its own, for one test class, and what is left running of a command."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

import bulkhead

TOP = os.environ["BH_TOP"]
STAGE = os.environ["BH_STAGE"]


class Place(unittest.TestCase):
    """`self.session` and `self.box` for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        # Not in /tmp: a sandbox has a /tmp of its own.
        cls.folder = tempfile.mkdtemp(dir=STAGE)
        cls.workspace = os.path.join(cls.folder, "workspace")
        os.mkdir(cls.workspace)
        cls.config = {"data_root": os.path.join(cls.folder, "data"),
                      "config_dir": os.path.join(cls.folder, "config")}
        cls.runtime = bulkhead.Runtime(cls.config)
        cls.session = cls.runtime.session("tester")
        cls.box = cls.session.sandbox.create(workspace=cls.workspace)

    @classmethod
    def tearDownClass(cls):
        cls.box.kill()
        cls.runtime.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def assertNothingHolds(self, folder, seconds=10.0):
        until = time.monotonic() + seconds
        while holders(folder):
            if time.monotonic() > until:
                self.fail(f"left behind: {holders(folder)}")
            time.sleep(0.05)

    def assertGone(self, word, seconds=5.0):
        """No process has that word among its arguments any more."""
        until = time.monotonic() + seconds
        while running(word):
            if time.monotonic() > until:
                self.fail(f"still running: {running(word)}")
            time.sleep(0.05)


def holders(folder):
    """Other processes that have something below that folder open: what is left of a command."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith(folder):
                    with open(f"/proc/{pid}/cmdline", "rb") as stream:
                        found.append((int(pid), stream.read().replace(b"\0", b" ").decode(errors="replace")))
                    break
        except OSError:
            continue
    return found


def running(word):
    found = subprocess.run(["pgrep", "-af", f"^(/[^ ]*/)?{word}"], capture_output=True, text=True).stdout
    return found.strip()
