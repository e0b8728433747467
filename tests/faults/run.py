#!/usr/bin/env python3
"""Runs the tables of faults; see README.md.

  tests/faults/run.py [WORD]      build folder: $BH_BUILD_DIR, else build/release

Ends with "N passed, N failed, N skipped"; the exit code is 0 when nothing failed."""
import os
import shutil
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import backend_faults  # noqa: E402
import crash_faults  # noqa: E402
import disk_faults  # noqa: E402
import expect  # noqa: E402
import json_faults  # noqa: E402
import load_faults  # noqa: E402
import path_faults  # noqa: E402
import size_faults  # noqa: E402
import type_faults  # noqa: E402
import unknown_faults  # noqa: E402
import vanish_faults  # noqa: E402
from ways import Fault, Place  # noqa: E402

KINDS = [json_faults, type_faults, unknown_faults, path_faults, disk_faults, backend_faults,
         crash_faults, vanish_faults, load_faults, size_faults]


def main():
    top = os.path.dirname(os.path.dirname(HERE))
    build = os.path.abspath(os.environ.get("BH_BUILD_DIR") or os.path.join(top, "build/release"))
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    expect.become_reaper()
    passed, failed, skipped = 0, 0, 0
    for kind in KINDS:
        # Not below /tmp, which sandboxes have one of their own of.
        stage = os.path.join(build, "faults")
        os.makedirs(stage, exist_ok=True)
        place_top = tempfile.mkdtemp(prefix=kind.__name__ + "-", dir=stage)
        place = Place(place_top, build)
        for name, case in kind.cases(place):
            if word not in name:
                continue
            started = time.monotonic()
            try:
                case()
                expect.nothing_left()
                passed += 1
                print(f"ok    {name} ({time.monotonic() - started:.1f} s)", flush=True)
            except expect.Skip as why:
                skipped += 1
                print(f"BH_SKIPPED {name}: {why}", flush=True)
            except BaseException as error:  # pylint: disable=broad-except
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed += 1
                told = isinstance(error, (AssertionError, Fault))
                where = "" if told else traceback.format_exc()
                print(f"FAIL  {name}: {error!s:.2000}\n{where}", flush=True)
                try:
                    expect.nothing_left(3)
                except AssertionError as left:
                    print(f"      and {left}", flush=True)
        shutil.rmtree(place_top, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
