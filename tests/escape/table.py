#!/usr/bin/env python3
"""Runs the escape tests as root and as an ordinary user and writes what came of each row.

    table.py [--build build/release] [--only NAMES]   runs both, prints the table, writes RESULTS.md
    table.py --kernels                                 writes what tests/kernels/run.py left behind
    table.py --print                                   prints RESULTS.md's tables, runs nothing

It ends with 0 only when every row came to a result with every backend that works here, and no test
failed. To run as both it is started by root.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "RESULTS.md")
sys.path.insert(0, os.path.join(HERE, "../support/runner"))
sys.dont_write_bytecode = True
from report import catch_cases  # noqa: E402

BACKENDS = ("ns", "bwrap", "landlock")
STARTERS = ("root", "user")
# What is less than a verdict gives way to one of another test of the same row.
WEAK = ("skipped", "not applicable")


def rows_of_suite():
    with open(os.path.join(HERE, "rows.h"), encoding="utf-8") as stream:
        return re.findall(r'^    \{"([A-Z]\d+)", "([^"]+)"\},$', stream.read(), re.M)


class Run:
    """What one run of the test program, by one user, left behind."""

    def __init__(self):
        self.words, self.notes, self.failed = {}, {}, {}

    def read(self, record, cases):
        """`cases`: (name, whether it failed)."""
        with open(record, encoding="utf-8") as stream:
            for line in stream:
                row, backend, words, notes = line.rstrip("\n").split("\t")
                key = row, backend
                self.words.setdefault(key, []).extend(w for w in words.split(", ") if w)
                notes = re.sub(r"/\S*bulkhead-test-\w+", "\N{HORIZONTAL ELLIPSIS}", notes)
                self.notes.setdefault(key, []).extend(n for n in notes.split(" | ") if n)
        for name, bad in cases:
            named = re.match(r"([A-Z]\d+) (\w+): ", name)
            if bad:
                key = named.groups() if named else (name, "")
                self.failed.setdefault(key, []).append(name)

    def word(self, row, backend):
        key = row, backend
        if key in self.failed:
            return "FAILED"
        words = sorted(set(self.words.get(key, ())))
        strong = [word for word in words if word not in WEAK]
        return ", ".join(strong or words) or "MISSING"


def run_program(build, starter, only):
    program = os.path.join(build, "tests", "escape_test")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o777)
        record, junit = os.path.join(folder, "record"), os.path.join(folder, "junit.xml")
        command = [program, "-r", "junit", "-o", junit] + ([only] if only else [])
        if starter == "user":
            command.insert(0, os.path.join(HERE, "as_made_user.sh"))
        said = os.path.join(folder, "said")  # a file: what a test leaves running holds up no pipe
        with open(said, "w", encoding="utf-8") as stream:
            subprocess.run(command, env={**os.environ, "BH_ESCAPE_RECORD": record}, stdout=stream,
                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        run = Run()
        if not os.path.exists(junit):
            with open(said, encoding="utf-8", errors="replace") as stream:
                sys.exit(f"{starter}: {stream.read()[-2000:]}")
        run.read(record, [(case.get("name"), any(one.tag in ("failure", "error") for one in case))
                          for case in xml.parse(junit).iter("testcase")])
        return run


def table_of(runs, rows):
    heads = [f"{backend}, {starter}" for backend in BACKENDS for starter in STARTERS]
    lines = ["| row | what | " + " | ".join(heads) + " |", "| --- " * (len(heads) + 2) + "|"]
    for row, about in rows:
        cells = [runs[starter].word(row, backend) for backend in BACKENDS for starter in STARTERS]
        lines.append(f"| {row} | {about} | " + " | ".join(cells) + " |")
    return lines


def notes_of(runs, rows):
    """Each reason once, with the rows, backends and users that it is about."""
    for row, _ in rows:
        whose = {}
        for backend in BACKENDS:
            for starter in STARTERS:
                for note in runs[starter].notes.get((row, backend), ()):
                    whose.setdefault(note, {}).setdefault(backend, set()).add(starter)
        for note, backends in whose.items():
            by = ", ".join(name + (f" ({', '.join(starters)})" if len(starters) == 1 else "")
                           for name, starters in backends.items())
            yield f"- **{row}** {by}: {' '.join(note.split())}"


def runs_of_machine(items):
    """The same from a machine of tests/kernels, where the rows ran in groups, or some of them did."""
    runs = {starter: Run() for starter in STARTERS}
    for item in items:
        record = os.path.join(item["folder"], "record")
        if item["name"].startswith("rows") and os.path.exists(record):
            cases, cut_off = catch_cases(os.path.join(item["folder"], "xml"))
            runs[item["starter"]].read(record, [(name, not good) for name, good, _, _ in cases] +
                                       [(name, True) for name in [cut_off] if name])
    return runs


def tried(runs, rows):
    """The rows that at least one run has results of."""
    return [row for row in rows
            if any(run.word(row[0], backend) != "MISSING" for run in runs.values() for backend in BACKENDS)]


INTRO = """# What came of each row

Written by `tests/escape/table.py`; do not edit. Each row was tried in a sandbox of each backend and, as the
control, without one, where it must work.

- **refused**, **hidden**: the attempt failed; what it was after cannot be reached, or is
  not there. **limited**, **ended**: it met its limit, or was brought to its end.
- **told**: the result or the report says what happened. **works**: what must work does.
- **not enforced (told)**: it works inside, and the enforcement report says that the rule
  does not hold. Several words: the row's tests differ.
- **not applicable**, **skipped**: reasons below the table.

A table of another kernel (`tests/kernels`) may hold only the rows that kernels differ in.
"""
HERE_TITLE = "This machine"


def sections():
    """{title's first part: text} of RESULTS.md as it is."""
    with open(RESULTS, encoding="utf-8") as stream:
        parts = re.split(r"^## ", stream.read(), flags=re.M)[1:]
    return {part.split(":")[0]: part.rstrip() + "\n" for part in parts}


def write(title, kernel, runs, rows):
    """One kernel's section, in the place of what was there of it; the others stay."""
    text = [f"{title}: Linux {kernel}", "", *table_of(runs, rows), "", "### Reasons", "",
            *notes_of(runs, rows)]
    known = sections()
    known[title] = "\n".join(text) + "\n"
    order = sorted(known, key=lambda one: (one != HERE_TITLE, one))
    with open(RESULTS, "w", encoding="utf-8") as stream:
        stream.write(INTRO + "".join(f"\n## {known[one]}" for one in order))


def faults_of(runs, rows):
    """What keeps a run from being whole."""
    for starter, run in runs.items():
        for names in run.failed.values():
            yield from (f"{starter}: failed: {name}" for name in names)
        yield from (f"{starter}: {row} {backend}: no result" for row, _ in rows
                    for backend in BACKENDS if run.word(row, backend) == "MISSING")


def write_kernels(build, rows):
    """From what the last run on other kernels left behind; 0 where nothing that it tried has failed."""
    path = os.path.join(build, "kernels/done.json")
    if not os.path.exists(path):
        sys.exit("there is nothing of other kernels: run tests/kernels/run.py first, best with --all")
    with open(path, encoding="utf-8") as stream:
        done = json.load(stream)
    bad = []
    for machine in done["machines"]:
        runs = runs_of_machine(machine["items"])
        some = tried(runs, rows)
        if not some:
            continue
        write(f"Debian {machine['release']}, emulated", machine["kernel"], runs, some)
        bad += [f"{machine['name']}: {fault}" for fault in faults_of(runs, some)]
    print("\n".join([*bad, f"{len(bad)} failed"]))
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(HERE, "../../build/release"))
    parser.add_argument("--only", default="", help="a pattern of test names; RESULTS.md stays")
    parser.add_argument("--kernels", action="store_true", help="from tests/kernels/run.py")
    parser.add_argument("--print", action="store_true", dest="show")
    arguments = parser.parse_args()
    if arguments.show:
        with open(RESULTS, encoding="utf-8") as stream:
            print("".join(line for line in stream if line.startswith("|")), end="")
        return 0
    if arguments.kernels:
        return write_kernels(arguments.build, rows_of_suite())
    if os.geteuid() != 0:
        sys.exit("table.py needs root, to run the rows as root and as an ordinary user")
    rows = rows_of_suite()
    runs = {starter: run_program(arguments.build, starter, arguments.only) for starter in STARTERS}
    print("\n".join(table_of(runs, rows)))
    bad = list(faults_of(runs, [] if arguments.only else rows))
    if not arguments.only:
        write(HERE_TITLE, os.uname().release.split("-")[0], runs, rows)
    print("\n".join(bad))
    print(f"{len(rows) * len(BACKENDS) * len(STARTERS)} results, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
