"""One machine under emulation: started, watched by its serial lines, ended in time."""
import base64
import io
import os
import re
import shutil
import subprocess
import tarfile
import time

from kernel import Unavailable

MEMORY_MB = 2048
PROCESSORS = 2


class Item:
    """One program's run inside, by root or by the user, for at most `limit` seconds."""

    def __init__(self, name, starter, command, limit):
        self.name, self.starter = name, starter
        self.command, self.limit = command, limit


class Result:
    def __init__(self, name, code, seconds, folder):
        self.name, self.code, self.seconds, self.folder = name, code, seconds, folder

    def text(self):
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as stream:
            return stream.read()


class Machine:
    """`items` run in their order; `seconds` are for all of it, the start included."""

    def __init__(self, name, kernel, disk, folder, items, seconds):
        self.name, self.kernel, self.disk = name, kernel, disk
        self.folder, self.items, self.seconds = folder, items, seconds
        os.makedirs(folder, exist_ok=True)
        self.first = f"{folder}/first.gz"
        self.console, self.lines = f"{folder}/console.log", f"{folder}/results.txt"
        self.process = None
        self.started = 0.0

    def texts(self):
        """What guest.sh reads."""
        lines = [f"{item.name}|{item.starter}|{item.limit}|{item.command}\n" for item in self.items]
        return {"items": "".join(lines), "setting": f"deadline={self.seconds}\n"}

    def start(self):
        emulator = shutil.which("qemu-system-x86_64")
        if not emulator:
            raise Unavailable("qemu-system-x86_64 is not installed (qemu-system-x86)")
        for path in (self.console, self.lines):
            if os.path.exists(path):
                os.unlink(path)
        # What is written to the disk is forgotten with the machine: the others start from the same one.
        argv = [emulator, "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(PROCESSORS),
                "-m", str(MEMORY_MB), "-nodefaults", "-display", "none", "-no-reboot", "-nic", "none",
                "-serial", f"file:{self.console}", "-serial", f"file:{self.lines}",
                "-drive", f"file={self.disk},if=virtio,format=raw,cache=unsafe,snapshot=on",
                "-kernel", self.kernel.image, "-initrd", self.first,
                "-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"]
        with open(f"{self.folder}/qemu.log", "wb") as stream:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stream,
                                            stderr=subprocess.STDOUT)
        self.started = time.monotonic()

    def wait(self):
        """Returns how long it ran. One that is over its time is ended: what it sent counts."""
        # The guest keeps the time itself; this is for one that has stopped answering.
        left = self.started + self.seconds + 30 - time.monotonic()
        try:
            self.process.wait(max(1.0, left))
        except subprocess.TimeoutExpired:
            self.end()
        return time.monotonic() - self.started

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def said(self):
        try:
            with open(self.console, encoding="utf-8", errors="replace") as stream:
                return stream.read().replace("\r", "")
        except OSError:
            return ""

    def trouble(self):
        """Why nothing could be run, or empty."""
        said = self.said()
        found = re.findall(r"^BH_KERNELS trouble (.*)$", said, re.M)
        if found:
            return found[0]
        if "BH_KERNELS up " in said:
            return ""
        last = [line for line in said.split("\n") if line.strip()][-3:]
        return "it did not come up: " + (" / ".join(last) or "nothing on the console")

    def left(self):
        """Names of the items for which there was no time."""
        return re.findall(r"^BH_LEFT (\S+)$", self._results(), re.M)

    def _results(self):
        try:
            with open(self.lines, encoding="ascii", errors="replace") as stream:
                return stream.read().replace("\r", "")
        except OSError:
            return ""

    def results(self):
        """{item's name: Result} of what ran to its end."""
        found = {}
        pattern = re.compile(r"^BH_ITEM (\S+) (\d+) (-?\d+)\n(.*?)^BH_END$", re.M | re.S)
        for name, code, seconds, text in pattern.findall(self._results()):
            folder = f"{self.folder}/{name}"
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text)), mode="r:gz") as archive:
                for member in archive:
                    if member.isfile():
                        with open(os.path.join(folder, os.path.basename(member.name)), "wb") as stream:
                            stream.write(archive.extractfile(member).read())
            found[name] = Result(name, int(code), int(seconds), folder)
        return found
