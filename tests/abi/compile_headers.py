#!/usr/bin/env python3
"""compile_headers.py --include DIR...

Compiles every header alone and twice, and all together in two orders, in each language standard
that we promise, with gcc and with clang, warnings as errors. -Wpadded makes a hidden hole an error.
A compiler that is not installed is told in a line `BH_SKIPPED ...`, which the runner counts.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from header_model import headers_in

STANDARDS = {"c": ["c99", "c11", "c17"], "c++": ["c++11", "c++14", "c++17", "c++20"]}
FLAGS = ["-Wall", "-Wextra", "-Wpadded", "-Wpedantic", "-pedantic-errors", "-Werror",
         "-fsyntax-only"]


def newest(name):
    """NAME, or the highest NAME-N on the path: Debian installs clang-14 without clang."""
    if shutil.which(name):
        return name
    found = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.path.isdir(folder):
            found += [m for m in map(re.compile(re.escape(name) + r"-(\d+)$").match,
                                     os.listdir(folder)) if m]
    return max(found, key=lambda m: int(m.group(1))).group() if found else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True)
    args = parser.parse_args()
    names = [path.name for path in headers_in(args.include)]
    texts = {f"{name}, twice": [name, name] for name in names}
    texts["all"] = names
    texts["all, reversed"] = names[::-1]

    jobs = []
    for family, c, cxx in (("gcc", "gcc", "g++"), ("clang", "clang", "clang++")):
        for language, compiler in (("c", newest(c)), ("c++", newest(cxx))):
            if compiler is None:
                print(f"BH_SKIPPED abi_headers {family}: no {family} for {language} on this machine")
                continue
            jobs += [(compiler, language, standard, what, text)
                     for standard in STANDARDS[language] for what, text in texts.items()]

    def compile_one(job):
        compiler, language, standard, what, text = job
        source = "".join(f"#include <bulkhead/{name}>\n" for name in text)
        done = subprocess.run([compiler, "-x", language, f"-std={standard}", *FLAGS,
                               *(f"-I{include}" for include in args.include), "-"],
                              input=source, capture_output=True, text=True)
        return done.returncode == 0, f"{compiler} -std={standard}, {what}:\n{done.stderr}"

    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
        results = list(pool.map(compile_one, jobs))
    for passed, text in results:
        if not passed:
            print("headers: " + text)
    failed = sum(not passed for passed, _ in results)
    print(f"headers: {len(results)} compiles, {failed} failed")
    sys.exit(1 if failed or not results else 0)


if __name__ == "__main__":
    main()
