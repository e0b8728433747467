#!/usr/bin/env python3
"""The Python package under every CPython from 3.9 on that is here: the tests of this folder and the
samples. One test of unittest is one test; a version that is absent is a skip."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
BUILD = os.environ.get("BH_BUILD_DIR", os.path.join(TOP, "build", "release"))
OLDEST, NEWEST = 9, 14


def pythons():
    """(version, program or None) for each minor; pyenv's versions are asked for by name."""
    env = dict(os.environ)
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True).stdout
        env["PYENV_VERSION"] = ":".join(listed.split())
    for minor in range(OLDEST, NEWEST + 1):
        program = shutil.which(f"python3.{minor}")
        found = None
        if program:
            asked = subprocess.run(
                [program, "-c", "import sys, ctypes; print(sys.version_info[1], sys.executable)"],
                capture_output=True, text=True, env=env)
            if asked.returncode == 0 and asked.stdout.split()[0] == str(minor):
                found = asked.stdout.split()[1]
        if found is None and sys.version_info[1] == minor:
            found = sys.executable
        yield f"3.{minor}", found


def main():
    if not os.path.exists(os.path.join(BUILD, "lib", "libbulkhead_mcp.so")):
        print(f"{BUILD}/lib/libbulkhead_mcp.so is not built\n0 passed, 1 failed, 0 skipped")
        return 1
    stage = os.path.join(BUILD, "bindings", "python")
    os.makedirs(stage, exist_ok=True)
    # As a user's: what a shell sets for its own Pythons (PYTHONUNBUFFERED) would hide what buffers do.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("BH_", "XDG_", "PYTHON"))}
    env.update(PYTHONPATH=os.path.join(TOP, "sdk", "python"), PYTHONDONTWRITEBYTECODE="1",
               BULKHEAD_LIBRARY=os.path.join(BUILD, "lib", "libbulkhead.so"), BH_STAGE=stage, BH_TOP=TOP)
    passed = failed = skipped = 0
    for version, program in pythons():
        if program is None:
            print(f"BH_SKIPPED python {version}: there is no such interpreter here")
            skipped += 1
            continue
        command = [program, "-X", "faulthandler", "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-v",
                   "-s", HERE, "-p", "test_*.py"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
        except subprocess.TimeoutExpired as late:
            print(f"FAILED python {version}: not at its end after 600 s\n{(late.stderr or b'')[-4000:].decode()}")
            failed += 1
            continue
        ran = re.search(r"^Ran (\d+) tests?", done.stderr, re.MULTILINE)
        bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", done.stderr))
        if ran is None or (done.returncode != 0 and bad == 0):
            bad = max(bad, 1)
        count = int(ran.group(1)) if ran else 0
        print(f"{'ok    ' if not bad and count else 'FAILED'} python {version}: {count} tests, {bad} failed",
              flush=True)
        if bad or not count:
            print(done.stdout[-4000:] + done.stderr[-12000:])
            bad = bad or 1
        passed, failed = passed + max(0, count - bad), failed + bad
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
