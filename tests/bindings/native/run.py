#!/usr/bin/env python3
"""The samples in C and C++: built as their users would, and what they print."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.environ.get("BH_BUILD_DIR", os.path.join(TOP, "build", "release"))
LIB = os.path.join(BUILD, "lib")
INCLUDES = [f"-I{os.path.join(TOP, room, 'include')}" for room in ("abi", "host", "sdk")]
passed = failed = skipped = 0


def check(what, good, seen=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {what}" + ("" if good else f"\n{seen}"), flush=True)
    return good


def sample(name, compiler, standard, sources, libraries, stage):
    global skipped
    if shutil.which(compiler) is None:
        print(f"BH_SKIPPED {name} by {compiler}: it is not installed")
        skipped += 1
        return
    program = os.path.join(stage, f"{name}-{compiler}")
    built = subprocess.run(
        [compiler, standard, "-Wall", "-Wextra", "-Werror", "-pedantic", *INCLUDES,
         *[os.path.join(TOP, "samples", name, source) for source in sources], f"-L{LIB}",
         *libraries, f"-Wl,-rpath,{LIB}", "-o", program], capture_output=True, text=True)
    if not check(f"{name} builds with {compiler} {standard}", built.returncode == 0, built.stderr):
        return
    with tempfile.TemporaryDirectory(dir=stage) as folder:
        workspace = os.path.join(folder, "workspace")
        os.mkdir(workspace)
        config = f'{{"version":1,"data_root":"{folder}/data"}}'
        done = subprocess.run([program, config, workspace], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        with open(os.path.join(TOP, "samples", "embed_output.txt"), encoding="utf-8") as golden:
            check(f"{name} by {compiler} prints what all of them print",
                  done.returncode == 0 and done.stdout == golden.read(), done.stdout + done.stderr)
        wrong = subprocess.run([program, '{"version":1,"colour":1}', workspace], capture_output=True,
                               text=True, timeout=120, stdin=subprocess.DEVNULL)
        check(f"{name} by {compiler} names a wrong key and fails",
              wrong.returncode == 1 and "colour" in wrong.stderr, wrong.stdout + wrong.stderr)


def wrapped():
    """host.hpp is complete: it calls every function that the header has."""
    with open(os.path.join(TOP, "sdk/include/bulkhead/host.hpp"), encoding="utf-8") as stream:
        text = stream.read()
    with open(os.path.join(TOP, "host/include/bulkhead/host.h"), encoding="utf-8") as stream:
        functions = re.findall(r"^BH_API .*?\b(bh_\w+)\(", stream.read(), re.MULTILINE)
    missing = [name for name in functions if not re.search(rf"\b{name}\b", text)]
    check(f"host.hpp wraps all {len(functions)} functions", len(functions) > 40 and not missing, missing)


def main():
    if not os.path.exists(os.path.join(LIB, "libbulkhead.so")):
        print(f"{LIB}/libbulkhead.so is not built\n0 passed, 1 failed, 0 skipped")
        return 1
    stage = os.path.join(BUILD, "bindings", "native")
    os.makedirs(stage, exist_ok=True)
    wrapped()
    for compiler in ("gcc", "clang"):
        sample("embed_c", compiler, "-std=c99", ["main.c", "talk.c"], ["-lbulkhead"], stage)
    for compiler, standard in (("g++", "-std=c++17"), ("clang++", "-std=c++20")):
        sample("embed_cpp", compiler, standard, ["main.cc"], ["-lbulkhead", "-lbulkhead_sdk_json"], stage)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
