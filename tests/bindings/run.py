#!/usr/bin/env python3
"""The bindings and the embedding samples, each language by its own driver: tests/bindings/<lang>/run.py.

    tests/bindings/run.py [LANGUAGE…]      BH_BUILD_DIR: the build to test; default build/release
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def main():
    env = dict(os.environ)
    env["BH_BUILD_DIR"] = os.path.abspath(env.get("BH_BUILD_DIR", os.path.join(TOP, "build", "release")))
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    languages = sys.argv[1:] or sorted(name for name in os.listdir(HERE)
                                       if os.path.exists(os.path.join(HERE, name, "run.py")))
    total = [0, 0, 0]
    for language in languages:
        print(f"-- {language}", flush=True)
        done = subprocess.Popen([sys.executable, os.path.join(HERE, language, "run.py")], env=env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        last = None
        for line in done.stdout:
            found = COUNTS.match(line)
            if found:  # it belongs to the language: the last line of all is ours
                last = [int(number) for number in found.groups()]
            else:
                print(line, end="", flush=True)
        done.wait()
        if last is None or (done.returncode != 0 and last[1] == 0):
            print(f"FAILED {language}: its driver ended with {done.returncode} and no account")
            last = [last[0] if last else 0, 1, last[2] if last else 0]
        total = [mine + more for mine, more in zip(total, last)]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] or not total[0] else 0


sys.exit(main())
