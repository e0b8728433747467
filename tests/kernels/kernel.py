"""Debian's own kernels: asked for and downloaded through apt's configuration, unpacked, never installed."""
import glob
import lzma
import os
import re
import shutil
import subprocess

# Version and the release that it is the kernel of.
KERNELS = (("6.1", "bookworm"), ("6.12", "trixie"))
# The flavour for virtual machines: small, and the devices of ours are known to it.
PACKAGE = "linux-image-cloud-amd64"
DOWNLOAD_SECONDS = 240


class Unavailable(Exception):
    """Why a kernel, or what starts it, cannot be had here."""


class Kernel:
    def __init__(self, version, release, folder):
        self.version, self.release, self.folder = version, release, folder
        self.image = _one(f"{folder}/boot/vmlinuz-*")
        self.modules = _one(f"{folder}/lib/modules/*", f"{folder}/usr/lib/modules/*")
        self.full_version = os.path.basename(self.modules)

    def with_needs(self, names):
        """[(name, bytes)] of those modules and of what they need, in the order in which they load; what
        is built into the kernel is left out."""
        with open(f"{self.modules}/modules.builtin", encoding="ascii") as stream:
            built_in = {_name_of(line.strip()) for line in stream}
        files = {}
        for folder, _, entries in os.walk(f"{self.modules}/kernel"):
            files.update({_name_of(entry): os.path.join(folder, entry) for entry in entries
                          if ".ko" in entry})
        order = {}

        def take(name):
            if name in built_in or name in order:
                return
            if name not in files:
                raise Unavailable(f"Linux {self.full_version} has no module {name}")
            data = _unpacked(files[name])
            needs = re.search(rb"\0depends=([^\0]*)\0", data)
            for other in (needs.group(1).decode() if needs else "").split(","):
                if other:
                    take(other.replace("-", "_"))
            order[name] = data

        for name in names:
            take(name)
        return list(order.items())


def _one(*patterns):
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    if not found:
        raise Unavailable(f"the kernel's package has no {patterns[0].rsplit('/', 1)[1]}")
    return found[-1]


def _name_of(path):
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def _unpacked(path):
    if path.endswith(".xz"):
        with lzma.open(path) as stream:
            return stream.read()
    with open(path, "rb") as stream:
        return stream.read()


def _told(command, seconds, **more):
    """Its output; Unavailable with its last words where it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False, **more)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not end within {seconds} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.split("\n") if line.strip()] or [f"exit code {done.returncode}"]
        # Addresses are the machine's business.
        raise Unavailable(f"{command[0]}: " + re.sub(r"\S+://\S+", "(an address)", lines[-1].strip()))
    return done.stdout


def _own_release():
    facts = {}
    with open("/etc/os-release", encoding="utf-8") as stream:
        for line in stream:
            key, _, value = line.strip().partition("=")
            facts[key] = value.strip('"')
    if facts.get("ID") != "debian":
        raise Unavailable("the packages of this system are not Debian's")
    return facts.get("VERSION_CODENAME", "")


def _repositories(own):
    """Where apt gets this release from, as apt itself tells."""
    listing = _told(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                     "Created-By: Packages"], 60)
    found = {line.split()[0] for line in listing.split("\n") if line.split()[1:] == [own, "main"]}
    if not found:
        raise Unavailable(f"apt's configuration names no {own} main")
    return sorted(found)


def _settings(folder, release):
    """apt with sources, lists and cache of its own, so that the machine's are as they were."""
    for name in ("sources", "lists/partial", "cache/archives/partial"):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
    with open(f"{folder}/sources/kernel.list", "w", encoding="utf-8") as stream:
        for address in _repositories(_own_release()):
            stream.write(f"deb {address} {release} main\n")
    options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": f"{folder}/sources",
               "Dir::State::lists": f"{folder}/lists", "Dir::State::status": "/dev/null",
               "Dir::Cache": f"{folder}/cache", "APT::Sandbox::User": "root", "Acquire::Languages": "none",
               "Acquire::Retries": "2"}
    return [word for key, value in options.items() for word in ("-o", f"{key}={value}")]


def fetch(version, release, cache):
    """The kernel of that release, from `cache` where an earlier run has left it there."""
    kept = f"{cache}/{release}"
    if os.path.isdir(kept):
        return Kernel(version, release, kept)
    if _told(["dpkg", "--print-architecture"], 10).strip() != "amd64":
        raise Unavailable("the suite knows the kernels of amd64 only")
    folder = f"{cache}/{release}.new"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        settings = _settings(f"{folder}/apt", release)
        _told(["apt-get", *settings, "-q", "update"], DOWNLOAD_SECONDS)
        shown = _told(["apt-cache", *settings, "show", PACKAGE], 60)
        real = re.search(rf"^Depends: (linux-image-{re.escape(version)}\.\S+)", shown, re.M)
        if not real:
            raise Unavailable(f"{PACKAGE} of {release} is not Linux {version}")
        _told(["apt-get", *settings, "-q", "download", real.group(1)], DOWNLOAD_SECONDS, cwd=folder)
        _told(["dpkg-deb", "-x", _one(f"{folder}/linux-image-*.deb"), f"{folder}/root"], 120)
        os.rename(f"{folder}/root", kept)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Kernel(version, release, kept)
