#!/usr/bin/env python3
"""What the README and the quickstart show is what works: the README's programs are run as they stand
there, and the quickstart's session is played against the program that was just built."""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("BH_BUILD_DIR", os.path.join(TOP, "build", "release"))
PROGRAM = os.path.join(BUILD, "bin", "bulkhead")
passed = failed = skipped = 0


def check(what, good, seen=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {what}" + ("" if good else f"\n{seen}"), flush=True)


def skip(what, why):
    global skipped
    skipped += 1
    print(f"BH_SKIPPED {what}: {why}", flush=True)


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as stream:
        return stream.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", read("README.md"), re.MULTILINE | re.DOTALL)


def run(argv, folder, more=None, **options):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("BH_", "XDG_"))}
    env.update(XDG_DATA_HOME=os.path.join(folder, "data"), XDG_CONFIG_HOME=os.path.join(folder, "config"),
               PATH=os.path.dirname(PROGRAM) + ":" + env["PATH"], **(more or {}))
    return subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env,
                          timeout=900, check=False, **options)


def project_in(folder):
    """The workspace: beside the configuration and data, never around them. It has what the README's
    commands read, as its reader would have it."""
    project = os.path.join(folder, "project")
    os.makedirs(project, exist_ok=True)
    picture = os.path.join(project, "debian.tar.xz")
    if not os.path.exists(picture):
        with tarfile.open(picture, "w:xz") as archive:
            for name in ("bin", "etc", "usr"):
                member = tarfile.TarInfo(name)
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
            archive.add("/etc/os-release", "etc/os-release")
    return project


def python_examples(folder):
    examples = blocks("python")
    check("the README's Python programs are those of samples/embed_python",
          examples == [read(f"samples/embed_python/{name}.py") for name in ("run_command", "tool")])
    env = {"PYTHONPATH": os.path.join(TOP, "sdk", "python"), "PYTHONDONTWRITEBYTECODE": "1",
           "BULKHEAD_LIBRARY": os.path.join(BUILD, "lib", "libbulkhead.so")}
    done = run([sys.executable, "-c", examples[0]], folder, cwd=project_in(folder), more=env)
    check("the first runs commands in a sandbox", done.returncode == 0 and "uid=" in done.stdout and
          "'reason': 'code'" in done.stdout and "b'3\\n'" in done.stdout, done.stdout + done.stderr)
    # What the second serves is called by tests/bindings/python.


def client_example():
    for number, example in enumerate(blocks("json")):
        try:
            servers = json.loads(example)["mcpServers"]
            good = servers["bulkhead"]["args"][0] == "mcp"
        except (ValueError, KeyError):
            good = False
        check(f"the README's client configuration {number + 1} is one", good, example)


def console_examples(folder):
    commands = [line[2:] for block in blocks("console") for line in block.split("\n")
                if line.startswith("$ ")]
    check("the README shows the command line", len(commands) >= 3)
    for command in commands:
        # What the README says of itself: it needs root, and apt's mirror.
        if "agent-session" in command and os.geteuid() != 0:
            skip(f"$ {command}", "an ordinary user builds no image")
            continue
        done = run(["bash", "-c", command], folder, cwd=project_in(folder))
        check(f"$ {command}", done.returncode == 0 and done.stdout, done.stdout + done.stderr)


def quickstart(folder):
    done = run([sys.executable, os.path.join(TOP, "samples", "quickstart", "session.py"), PROGRAM,
                os.path.join(folder, "stage")], folder, cwd=folder)
    promises = len(re.findall(r"^   ok    ", done.stdout, re.MULTILINE))
    check(f"the quickstart's session keeps its {promises} promises",
          done.returncode == 0 and promises >= 15 and "FAILED" not in done.stdout,
          done.stdout + done.stderr)


def plugin_example():
    shown = blocks("c")
    check("the README shows one plugin in C", len(shown) == 1)
    sample = "".join(read(f"samples/plugin_c/{name}")
                     for name in os.listdir(os.path.join(TOP, "samples/plugin_c")) if name.endswith(".c"))
    for part in re.split(r"^ *…\n", shown[0], flags=re.MULTILINE) if shown else []:
        check("its lines are those of samples/plugin_c", part in sample, part)


def main():
    if not os.path.exists(PROGRAM):
        print(f"{PROGRAM} is not built\n0 passed, 1 failed, 0 skipped")
        return 1
    # Not in /tmp: a sandbox has a /tmp of its own, so what is refused there says nothing.
    scratch = os.path.join(BUILD, "tests", "scratch")
    os.makedirs(scratch, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        python_examples(folder)
        client_example()
        console_examples(folder)
        quickstart(folder)
        plugin_example()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
