"""Where things are, which compilers there are, and how they are run."""
import os
import shutil
import signal
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.path.abspath(os.environ.get("BH_BUILD_DIR") or os.path.join(TOP, "build", "release"))
STAGE = os.path.join(BUILD, "bindings-rust")
LIBRARY = os.path.join(BUILD, "lib")
PROGRAM = os.path.join(BUILD, "bin", "bulkhead")


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as stream:
        return stream.read()


def folder(tools, name):
    """A folder of that name, for what one compiler makes."""
    path = os.path.join(STAGE, tools.name, name)
    os.makedirs(path, exist_ok=True)
    return path


class Tools:
    """One cargo with its rustc."""

    def __init__(self, name, bin_folder):
        self.name = name
        self.bin = bin_folder
        self.rustc = os.path.join(bin_folder, "rustc")
        self.cargo_path = os.path.join(bin_folder, "cargo")
        self.target = os.path.join(STAGE, name, "target")

    def missing(self):
        """Why it cannot be used, or nothing. A proxy without a toolchain behind it is there and fails."""
        for program in (self.rustc, self.cargo_path):
            if not os.access(program, os.X_OK):
                return f"there is no {program}"
            said = run([program, "--version"], 60, TOP, dict(os.environ))
            if said.returncode != 0:
                return f"{program} does not work: {said.stdout.strip()[:200]}"
        return ""

    def version(self):
        return run([self.rustc, "--version"], 60, TOP, dict(os.environ)).stdout.split()[1]

    def environment(self):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("BH_", "XDG_", "CARGO", "RUSTC", "RUSTDOC", "BULKHEAD"))}
        home = os.path.join(STAGE, self.name, "home")
        os.makedirs(home, exist_ok=True)
        # Of its own: no settings of the user's, and nothing written there.
        env.update(CARGO_HOME=os.path.join(STAGE, self.name, "cargo-home"), RUSTC=self.rustc,
                   RUSTDOC=os.path.join(self.bin, "rustdoc"), CARGO_TERM_COLOR="never",
                   CARGO_TARGET_DIR=self.target, CARGO_NET_OFFLINE="true", RUSTFLAGS="-D warnings",
                   RUSTDOCFLAGS="-D warnings", RUST_BACKTRACE="0", BH_BUILD_DIR=BUILD,
                   BULKHEAD_LIB_DIR=LIBRARY, LD_LIBRARY_PATH=LIBRARY,
                   XDG_DATA_HOME=os.path.join(home, "data"),
                   XDG_CONFIG_HOME=os.path.join(home, "config"),
                   PATH=f"{self.bin}:{os.path.dirname(PROGRAM)}:{os.environ['PATH']}")
        return env

    def cargo(self, arguments, where, **more):
        """A cargo command in a folder of the tree; nothing is fetched, nothing is written there."""
        return run([self.cargo_path, *arguments], 600, os.path.join(TOP, where),
                   {**self.environment(), **more})


def run(argv, seconds, cwd, env):
    """Its exit code and all that it said; over its time it is ended with all that it started."""
    with subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as child:
        try:
            out, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, _ = child.communicate()
            out += f"\nended after {seconds} s".encode()
    return subprocess.CompletedProcess(argv, child.returncode, out.decode("utf-8", "replace"), "")


def compilers():
    """Debian's (/usr/bin), and the one that comes first in PATH where it is another."""
    debian = Tools("debian", "/usr/bin")
    first = shutil.which("rustc")
    newest = None
    if first and not os.path.samefile(os.path.dirname(first), debian.bin):
        newest = Tools("newest", os.path.dirname(first))
    return debian, newest
