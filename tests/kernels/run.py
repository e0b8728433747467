#!/usr/bin/env python3
"""The suites on Debian's own kernels, in machines under emulation; see README.md.

  tests/kernels/run.py           what fits into a few minutes       build folder: $BH_BUILD_DIR, else
  tests/kernels/run.py --all     everything (an hour)               build/release
  --only 6.1                     machines with that in their name
  --suite rows                   items whose name begins so: images, rows, parts, contract

Ends with "N passed, N failed, N skipped"; the exit code is 0 when nothing failed."""
import argparse
import json
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "tests/support/runner")]
sys.dont_write_bytecode = True

import kernel as kernels  # noqa: E402
import plan  # noqa: E402
import root  # noqa: E402
from machine import Machine  # noqa: E402
from report import Report, add_catch, add_script  # noqa: E402

# `timeout` says it with these.
OVER = (124, 137)


class Ended:
    """A result as the runner's report takes it."""

    def __init__(self, result, item):
        self.code, self.signal, self.leftovers = result.code, None, []
        self.timed_out = result.code in OVER
        self.seconds, self.limit = result.seconds, item.limit
        self.text = result.text

    def why(self):
        if self.timed_out:
            return f"over its time limit after {self.seconds} s"
        return f"exit code {self.code}" if self.code else ""

    def tail(self, count=12):
        return self.text().rstrip().split("\n")[-count:]


def programs(build):
    """What is started inside, and where the contract's program lies."""
    names = ["escape_test", "escape_probe", "plugins_test", "wall_probe"]
    found = [f"{build}/tests/{name}" for name in names]
    contract = os.path.dirname(next((os.path.join(at, "bulkhead-contract")
                                     for at, _, files in os.walk(f"{build}/sdk") if "bulkhead-contract" in files),
                                    f"{build}/bin/bulkhead-contract"))
    found += [f"{contract}/{name}" for name in ("bulkhead-contract", "bulkhead-contract-probe")]
    for at, _, files in os.walk(f"{build}/plugins"):
        if "CMakeFiles" not in at:
            found += [os.path.join(at, name) for name in files
                      if name == "plugin.json" or os.access(os.path.join(at, name), os.X_OK)]
    missing = [path for path in found if not os.path.exists(path)]
    if missing:
        raise kernels.Unavailable(f"not built: {os.path.relpath(missing[0], TOP)}")
    return found, contract


def machines(build, full, only, suite):
    """Those that can be had; of the others, [(name, why)]."""
    folder = f"{build}/kernels"
    os.makedirs(folder, exist_ok=True)
    if os.geteuid() != 0:
        raise kernels.Unavailable("a disk with files of several owners is made by root")
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static")):
        if not shutil.which(program):
            raise kernels.Unavailable(f"{program} is not installed ({package})")
    here, contract = programs(build)
    disk = f"{folder}/disk.img"
    found, absent, known = [], [], {}
    for number, (version, with_modules) in enumerate(plan.MACHINES if full else
                                                     plan.MACHINES[:plan.SHORT_MACHINES]):
        name = f"{version}-{'with' if with_modules else 'without'}"
        if only not in name:
            continue
        try:
            if version not in known:
                release = dict(kernels.KERNELS)[version]
                known[version] = kernels.fetch(version, release, f"{TOP}/build/kernels")
            one = known[version]
            modules = one.with_needs(plan.BASIC + (plan.OPTIONAL if with_modules else ()))
        except kernels.Unavailable as error:
            absent.append((name, str(error)))
            continue
        items = [item for item in plan.items_of(build, contract, full, number < plan.SHORT_MACHINES)
                 if item.name.startswith(suite)]
        if not items:
            continue
        seconds = plan.ALL_SECONDS if full else plan.SHORT_SECONDS
        machine = Machine(name, one, disk, f"{folder}/{name}", items, seconds)
        root.make_first(machine.first, modules, machine.texts())
        found.append(machine)
    if found:
        # Everything that any of them runs; which and for how long is in a part of its own.
        root.make_disk(disk, f"{folder}/disk", here + [os.path.join(TOP, "tests/support", name)
                                                       for name in os.listdir(os.path.join(TOP, "tests/support"))
                                                       if name.endswith(".sh")],
                       [os.path.join(TOP, "tests/escape")], f"{build}/tests/scratch")
    return found, absent


def add_results(report, machine):
    """Counts what came of each item; returns a line for each."""
    results, left = machine.results(), machine.left()
    trouble = machine.trouble()
    if trouble:
        report.fail(machine.name, trouble, machine.said().split("\n")[-12:])
        return
    for item in machine.items:
        label = f"{machine.name}/{item.name}"
        result = results.get(item.name)
        cut_off = result and result.code in OVER and result.seconds < item.limit - 1
        if item.name in left or cut_off:
            report.skip(label, f"no time was left of {machine.seconds} s (emulation was slower than planned)")
            print(f"{label}: no time left", flush=True)
            continue
        if result is None:
            report.fail(label, "the machine ended before it", machine.said().split("\n")[-8:])
            continue
        xml = f"{result.folder}/xml"
        ended = Ended(result, item)
        counted = add_catch(report, label, ended, xml) if os.path.exists(xml) else add_script(report, label, ended)
        print(f"{label}: {counted} ({result.seconds} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--all", action="store_true", dest="full")
    parser.add_argument("--only", default="")
    parser.add_argument("--suite", default="")
    arguments = parser.parse_args()
    build = os.path.abspath(os.environ.get("BH_BUILD_DIR") or os.path.join(TOP, "build/release"))
    report = Report()
    started = time.monotonic()
    try:
        found, absent = machines(build, arguments.full, arguments.only, arguments.suite)
    except kernels.Unavailable as error:
        print(f"BH_SKIPPED kernels: {error}\n0 passed, 0 failed, 1 skipped")
        return 0
    for name, why in absent:
        report.skip(name, why)
    print(f"made ready in {time.monotonic() - started:.0f} s", flush=True)
    try:
        for machine in found:
            machine.start()
        for machine in found:
            print(f"{machine.name}: Linux {machine.kernel.full_version}, {machine.wait():.0f} s", flush=True)
    finally:
        for machine in found:
            machine.end()
    for machine in found:
        add_results(report, machine)
    if not arguments.full:
        print("left out here: the rows and checks that tests/kernels/plan.py does not name; --all has them")
    with open(f"{build}/kernels/done.json", "w", encoding="utf-8") as stream:
        json.dump({"full": arguments.full, "machines": [
            {"name": one.name, "kernel": one.kernel.full_version, "release": one.kernel.release,
             "items": [{"name": item.name, "starter": item.starter, "folder": f"{one.folder}/{item.name}"}
                       for item in one.items if item.name in one.results()]} for one in found]}, stream)
    for name, reason in report.skips:
        print(f"BH_SKIPPED {name}: {reason}")
    for name, reason, lines in report.failures:
        print("\n".join([f"FAILED {name}: {reason}", *(f"    {line[:200]}" for line in lines)]))
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
