"""Builds and runs the tests; tests/run.sh is the way in. tests/README.md says what is counted."""
import argparse
import os
import sys
import time

import flavours as room
import ground
import lints
from ahead import Ahead
from report import Report


def arguments():
    parser = argparse.ArgumentParser(prog="tests/run.sh", description="Builds and runs the tests.")
    parser.add_argument("--flavour", default="all",
                        choices=["all", "release", "asan", "tsan", "fuzz", "lint"],
                        help="one flavour alone (default: all of them)")
    parser.add_argument("--filter", default="", metavar="TEXT",
                        help="only programs and suites whose name has TEXT in it")
    parser.add_argument("--no-build", action="store_true", help="run what is built already")
    parser.add_argument("--format", action="store_true", help="check the layout of the code as well")
    return parser.parse_args()


def buildable(wanted, done):
    """Those after `done` of which there is something to build."""
    names = list(wanted)
    return [wanted[name] for name in names[names.index(done.name) + 1:]
            if wanted[name].only != [] and (name != "fuzz" or os.path.exists("tests/fuzz/CMakeLists.txt"))]


def main():
    args = arguments()
    report = Report()
    wanted = room.flavours()
    if args.flavour != "all":
        wanted = {name: flavour for name, flavour in wanted.items() if name == args.flavour}

    if args.flavour in ("all", "lint") and args.filter in "lint":
        started = time.monotonic()
        lints.run_lints(report)
        if args.format:
            lints.run_format(report)
        report.phase("lint", time.monotonic() - started)

    ground.prepare([flavour.build_dir for flavour in wanted.values()])
    ahead = None
    for flavour in wanted.values():
        if flavour.name == "fuzz" and not os.path.exists("tests/fuzz/CMakeLists.txt"):
            report.skip("fuzz", "there are no fuzz targets in this tree")
            continue
        if flavour.only == []:
            report.skip(flavour.name, "there are no programs for it in this tree")
            continue
        if args.no_build:
            pass
        elif ahead is not None:
            if not ahead.built(flavour, report):
                continue
        else:
            good = room.build(flavour, report)
            ahead = Ahead(buildable(wanted, flavour))
            if not good:
                continue
        if flavour.name == "fuzz":
            room.run_fuzz(flavour, report, args.filter)
        else:
            room.run_programs(flavour, report, args.filter)
        if flavour.name == "release":
            room.run_scripts(report, args.filter)

    report.print()
    sys.exit(0 if report.good() else 1)


main()
