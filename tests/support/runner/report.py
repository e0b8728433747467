"""What was run and how it ended: counts, failures with their last lines, skips with their reasons."""
import re
import time
import xml.etree.ElementTree as ElementTree

TOTALS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
# Catch2's own closing lines, of a program that is run through another one.
CATCH_GOOD = re.compile(r"^All tests passed \(\d+ assertions? in (\d+) test cases?\)$", re.MULTILINE)
CATCH_MIXED = re.compile(r"^test cases: *(\d+) \|(?: *(\d+) passed)?(?: *\|)?(?: *(\d+) failed)?",
                         re.MULTILINE)
SKIPPED = re.compile(r"^BH_SKIPPED (.*?): (.*)$", re.MULTILINE)


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.failures = []  # (name, reason, [lines])
        self.skips = []  # (name, reason)
        self.phases = []  # (name, seconds)
        self.begun = time.monotonic()

    def fail(self, name, reason, lines=(), count=1):
        self.failed += count
        self.failures.append((name, reason, list(lines)))

    def skip(self, name, reason, count=1):
        self.skipped += count
        self.skips.append((name, reason))

    def phase(self, name, seconds):
        self.phases.append((name, seconds))

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.skips += other.skips
        self.phases += other.phases

    def print(self):
        if self.skips:
            print("\nSkipped:")
            reasons = {}
            for name, reason in self.skips:
                reasons.setdefault(reason, []).append(name)
            for reason, names in reasons.items():
                more = f" and {len(names) - 2} more" if len(names) > 2 else ""
                print(f"  {reason}: {', '.join(names[:2])}{more}")
        if self.failures:
            print("\nFailed:")
            for name, reason, lines in self.failures:
                print(f"  {name}: {reason}")
                for line in lines:
                    print(f"      {line[:220]}")
        print("\nTime:")
        for name, seconds in self.phases:
            print(f"  {seconds:7.1f} s  {name}")
        print(f"  {time.monotonic() - self.begun:7.1f} s  in all; some of it went side by side")
        # The last line is read by machines.
        print(f"\n{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)

    def good(self):
        return self.failed == 0 and self.passed > 0


def add_catch(report, name, outcome, xml_path):
    """A Catch2 program: each test case counts. Returns the one-line summary."""
    before = (report.passed, report.failed, report.skipped)
    text = outcome.text()
    reasons = dict(SKIPPED.findall(text))
    cases, open_case = catch_cases(xml_path)
    for case, success, skipped, lines in cases:
        if not success:
            report.fail(f"{name}: {case}", "failed", lines)
        elif skipped or case in reasons:
            report.skip(f"{name}: {case}", reasons.get(case, "its own SKIP"))
        else:
            report.passed += 1
    failed_cases = report.failed - before[1]
    if open_case is not None:
        report.fail(f"{name}: {open_case}", outcome.why() or "the report ends here", outcome.tail())
    elif outcome.timed_out or outcome.signal is not None or outcome.leftovers:
        report.fail(name, outcome.why(), outcome.tail())
    elif outcome.code != 0 and failed_cases == 0:
        report.fail(name, outcome.why(), outcome.tail())
    elif not cases:
        report.fail(name, "ran no test case", outcome.tail())
    return _difference(report, before)


def catch_cases(path):
    """[(name, success, skipped, failure lines)] of a report of either major, also of one cut off by a
    crash, and the name of the case that it was cut off in."""
    cases, open_case, lines = [], None, []
    try:
        for event, node in ElementTree.iterparse(path, ("start", "end")):
            if event == "start":
                if node.tag == "TestCase":
                    open_case, lines = node.get("name", "?"), []
            elif node.tag == "Expression" and node.get("success") == "false":
                original = " ".join((node.findtext("Original") or "").split())
                expanded = " ".join((node.findtext("Expanded") or "").split())
                lines.append(f"{node.get('filename')}:{node.get('line')}: {node.get('type')}({original})"
                             + (f" with {expanded}" if expanded != original else ""))
            elif node.tag in ("Failure", "FatalErrorCondition", "Exception"):
                place = f"{node.get('filename')}:{node.get('line')}: " if node.get("line") else ""
                lines.append(place + " ".join((node.text or "").split()))
            elif node.tag == "TestCase":
                result = node.find("OverallResult")
                success = result is not None and result.get("success") == "true"
                skipped = result is not None and int(result.get("skips") or 0) > 0
                cases.append((open_case, success, skipped, lines[:12]))
                open_case = None
    except (ElementTree.ParseError, OSError):
        pass
    return cases, open_case


def add_script(report, name, outcome, skip_code=None):
    """Anything else: its own closing line counts, or else its exit code as one test."""
    before = (report.passed, report.failed, report.skipped)
    text = outcome.text()
    skips = SKIPPED.findall(text)
    totals = TOTALS.findall(text) or _catch_totals(text, len(dict(skips)))
    bad = outcome.why() if not (skip_code is not None and outcome.code == skip_code) else ""
    if totals:
        passed, failed, skipped = (int(number or 0) for number in totals[-1])
        report.passed += passed
        reasons = list(dict(skips).items())[:skipped]
        for case, reason in reasons:
            report.skip(f"{name}: {case}", reason)
        if skipped > len(reasons):
            report.skip(name, "reasons in its own output", skipped - len(reasons))
        if failed:
            report.fail(name, f"{failed} failed", outcome.tail(30), failed)
        elif bad:
            report.fail(name, bad, outcome.tail())
        elif passed + skipped == 0:
            report.fail(name, "ran no test", outcome.tail())
    elif bad:
        report.fail(name, bad, outcome.tail(20))
    elif skips or (skip_code is not None and outcome.code == skip_code):
        report.skip(name, skips[0][1] if skips else outcome.tail(1)[0])
    else:
        report.passed += 1
    return _difference(report, before)


def _catch_totals(text, skipped):
    """[(passed, failed, skipped)] of Catch2's closing line, where a case that was left has passed."""
    good = CATCH_GOOD.findall(text)
    if good:
        return [(int(good[-1]) - skipped, 0, skipped)]
    mixed = CATCH_MIXED.findall(text)
    if mixed:
        return [(int(mixed[-1][1] or 0) - skipped, int(mixed[-1][2] or 0), skipped)]
    return []


def _difference(report, before):
    passed, failed, skipped = (report.passed - before[0], report.failed - before[1],
                               report.skipped - before[2])
    parts = [f"{passed} passed"]
    if failed:
        parts.append(f"{failed} FAILED")
    if skipped:
        parts.append(f"{skipped} skipped")
    return ", ".join(parts)
