"""What a machine starts from: a disk with the programs of this system and of the build tree, at the paths
that they have here, and a first file system with the kernel's modules."""
import glob
import gzip
import os
import re
import shutil
import subprocess

from kernel import Unavailable

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = "bulkhead-kernels"
# Beside what Debian calls essential: what the tests and the backends start.
SEEDS = ("bubblewrap", "uidmap", "procps", "passwd", "mount", "libc-bin", "attr", "python3")
DISK = "3G"  # a file with holes
PASSWD = ("root:x:0:0:root:/root:/bin/sh", "daemon:x:1:1:daemon:/:/usr/sbin/nologin",
          "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin",
          "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
          "tester:x:1000:1000::/home/tester:/bin/sh")
GROUP = ("root:x:0:", "daemon:x:1:", "tty:x:5:", "shadow:x:42:", "nogroup:x:65534:", "tester:x:1000:")


def _installed():
    """{package: (is it essential, [[alternatives]])}."""
    shown = subprocess.run(["dpkg-query", "-W", "-f",
                            "${db:Status-Abbrev}|${Package}|${Essential}|${Pre-Depends}, ${Depends}\n"],
                           check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    found = {}
    for line in shown.split("\n"):
        status, _, rest = line.partition("|")
        if status.strip() != "ii":
            continue
        name, essential, needs = rest.split("|", 2)
        names = [[re.split(r"[ :(]", one.strip())[0] for one in group.split("|")]
                 for group in needs.split(",") if group.strip()]
        found[name] = essential == "yes", names
    return found


def packages():
    """The essential ones and the seeds, with all that they need, as far as they are installed."""
    known = _installed()
    wanted = [name for name, (essential, _) in known.items() if essential]
    wanted += [name for name in SEEDS if name in known]
    taken = set()
    while wanted:
        name = wanted.pop()
        if name in taken:
            continue
        taken.add(name)
        for alternatives in known[name][1]:
            wanted += [one for one in alternatives if one in known][:1]
    return sorted(taken)


def _files_of(names):
    listing = subprocess.run(["dpkg-query", "-L", *names], check=True, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL).stdout
    skip = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/",
            "/usr/share/zoneinfo/", "/usr/share/i18n/")
    for path in listing.split("\n"):
        if path.startswith("/") and not path.startswith(skip) and path != "/.":
            yield path


def libraries(programs):
    """What the loader finds for them, all together."""
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", said)))


class Tree:
    """Files under way to the disk, each at the place that it has here, owners and modes kept."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if os.path.islink(f"/{name}"):
                self.add(f"/{name}")
        for name in ("dev", "proc", "sys", "run", "tmp", "root", "home/tester", "var/tmp", "results", "mnt",
                     "srv", "var/lib", "var/log", OWN):
            os.makedirs(f"{folder}/{name}", exist_ok=True)
        for name in ("tmp", "var/tmp"):
            os.chmod(f"{folder}/{name}", 0o1777)
        os.chmod(f"{folder}/root", 0o700)
        os.chown(f"{folder}/home/tester", 1000, 1000)

    def add(self, path):
        """A file, link or empty folder; folders above it as they are here."""
        folder, name = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), name)
        to = self.folder + real
        if os.path.lexists(to) or not os.path.lexists(real):
            return
        if os.path.dirname(real) != "/":
            self.add(os.path.dirname(real))
        if os.path.islink(real):
            os.symlink(os.readlink(real), to)
            self.add(os.path.join(os.path.dirname(real), os.readlink(real)))
        elif os.path.isdir(real):
            os.mkdir(to)
            self._as(real, to)
        elif os.path.isfile(real):
            shutil.copyfile(real, to)
            self._as(real, to)

    def add_all(self, folder):
        for at, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                self.add(os.path.join(at, name))

    @staticmethod
    def _as(real, to):
        st = os.stat(real)
        os.chown(to, st.st_uid, st.st_gid)
        os.chmod(to, st.st_mode & 0o7777)

    def write(self, path, text, mode=0o644):
        to = self.folder + path
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(to, mode)


def _one_file(program, package):
    found = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin")
    if not found:
        raise Unavailable(f"{program} is not installed ({package})")
    return found


def make_disk(disk, folder, programs, folders, scratch):
    """The disk, with `programs` (their libraries come along), all that is in `folders`, and an empty folder
    `scratch` that everybody may write to."""
    mke2fs = _one_file("mke2fs", "e2fsprogs")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    tree = Tree(folder)
    for path in _files_of(packages()):
        tree.add(path)
    for path in glob.glob("/etc/alternatives/*"):
        if os.path.exists(folder + os.path.realpath(path)):
            tree.add(path)
    for path in [*programs, *libraries([path for path in programs if not path.endswith(".sh")])]:
        tree.add(path)
    for path in folders:
        tree.add_all(path)
    os.makedirs(folder + scratch, exist_ok=True)
    os.chmod(folder + scratch, 0o1777)
    for name, lines in (("passwd", PASSWD), ("group", GROUP)):
        tree.write(f"/etc/{name}", "\n".join(lines) + "\n")
    tree.write("/etc/shadow", "root:*:20000:0:99999:7:::\n", 0o640)
    tree.write("/etc/gshadow", "root:*::\n", 0o640)
    for name in ("subuid", "subgid"):
        tree.write(f"/etc/{name}", "tester:100000:65536\n")
    tree.write("/etc/hostname", "kernels\n")
    tree.write("/etc/hosts", "127.0.0.1 localhost kernels\n")
    tree.write("/etc/inittab", f"::once:/{OWN}/guest.sh\n")
    tree.add("/etc/ld.so.conf")
    tree.add_all("/etc/ld.so.conf.d")
    subprocess.run([_one_file("ldconfig", "libc-bin"), "-r", folder], check=True, stdin=subprocess.DEVNULL)
    shutil.copy(f"{HERE}/guest.sh", f"{folder}/{OWN}/guest.sh")
    shutil.copy(_one_file("busybox", "busybox-static"), f"{folder}/{OWN}/busybox")
    if os.path.exists(disk):
        os.unlink(disk)
    made = subprocess.run([mke2fs, "-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, disk, DISK],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    shutil.rmtree(folder, ignore_errors=True)
    if made.returncode != 0:
        raise Unavailable(f"mke2fs: {made.stderr.strip()}")


def _entry(name, mode, data=b""):
    # ino, mode, uid, gid, nlink, mtime, size, four device numbers, length of the name, no checksum
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def make_first(path, modules, texts):
    """The archive (cpio, as the kernel reads it) that a machine starts in; `texts` are files in it."""
    with open(_one_file("busybox", "busybox-static"), "rb") as stream:
        busybox = stream.read()
    if b"/lib64/ld-linux" in busybox[:4096]:
        raise Unavailable("busybox is not the static one (busybox-static)")
    with open(f"{HERE}/start.sh", "rb") as stream:
        start = stream.read()
    parts = [_entry(name, 0o40755) for name in ("bin", "proc", "sys", "dev", "root", "modules")]
    parts += [_entry(name, 0o100644, text.encode()) for name, text in texts.items()]
    parts += [_entry("bin/busybox", 0o100755, busybox), _entry("init", 0o100755, start)]
    for number, (name, data) in enumerate(modules):
        parts.append(_entry(f"modules/{number:03}-{name}.ko", 0o100644, data))
    parts.append(_entry("TRAILER!!!", 0))
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"".join(parts))
