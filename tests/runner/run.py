#!/usr/bin/env python3
"""The runner's own tests: what it must count as failed, it does."""
import os
import signal
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support", "runner"))

import lints  # noqa: E402
from program import goes_beside, run  # noqa: E402
from report import Report, add_catch, add_script  # noqa: E402

CASE = '<TestCase name="{}"><OverallResult success="{}"/></TestCase>'


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.report = Report()

    def outcome(self, script, limit=20):
        return run(["sh", "-c", script], os.path.join(self.folder.name, "log"), limit)

    def script(self, script, limit=20):
        outcome = self.outcome(script, limit)
        add_script(self.report, "it", outcome)
        return self.report.passed, self.report.failed, self.report.skipped

    def catch(self, script, xml, limit=20):
        path = os.path.join(self.folder.name, "xml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(xml)
        add_catch(self.report, "it", self.outcome(script, limit), path)
        return self.report.passed, self.report.failed, self.report.skipped

    def test_what_goes_beside_was_not_left_by_a_program(self):
        def sleeper():
            pid = os.fork()
            if pid == 0:
                time.sleep(30)
                os._exit(0)
            return pid
        beside = sleeper()
        goes_beside(beside)
        self.assertEqual(self.script("exit 0"), (1, 0, 0))
        other = sleeper()
        self.assertEqual(self.script("exit 0"), (1, 1, 0))
        with self.assertRaises(ProcessLookupError):
            os.kill(other, 0)
        os.kill(beside, 9)

    def test_an_interrupt_ends_the_program(self):
        mark = os.path.join(self.folder.name, "mark")
        before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            with self.assertRaises(KeyboardInterrupt):
                self.outcome(f"sleep 1.5; touch {mark}")
        finally:
            signal.signal(signal.SIGALRM, before)
        time.sleep(1.5)
        self.assertFalse(os.path.exists(mark))

    def test_exit_code_is_one_test(self):
        self.assertEqual(self.script("exit 0"), (1, 0, 0))
        self.assertEqual(self.script("exit 3"), (1, 1, 0))

    def test_own_totals_count(self):
        self.assertEqual(self.script("echo '4 passed, 0 failed, 2 skipped'"), (4, 0, 2))

    def test_last_totals_count(self):
        self.assertEqual(self.script("echo '9 passed, 0 failed'; echo '4 passed, 0 failed'"), (4, 0, 0))

    def test_totals_do_not_hide_a_bad_exit(self):
        self.assertEqual(self.script("echo '4 passed, 0 failed'; exit 1"), (4, 1, 0))

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.script("echo '0 passed, 0 failed'"), (0, 1, 0))

    def test_crash(self):
        self.assertEqual(self.script("kill -SEGV $$"), (0, 1, 0))
        self.assertIn("SIGSEGV", self.report.failures[0][1])

    def test_skip_has_its_reason(self):
        self.assertEqual(self.script("echo 'BH_SKIPPED this: no such kernel'"), (0, 0, 1))
        self.assertEqual(self.report.skips, [("it", "no such kernel")])

    def test_closing_line_of_catch_through_another_program(self):
        self.assertEqual(self.script("echo 'BH_SKIPPED one: why'; echo 'BH_SKIPPED one: why'; "
                                     "echo 'All tests passed (9 assertions in 4 test cases)'"), (3, 0, 1))

    def test_failed_closing_line_of_catch_through_another_program(self):
        self.assertEqual(self.script("echo 'test cases: 36 | 34 passed |  2 failed'; exit 2"), (34, 2, 0))

    def test_time_limit_ends_the_whole_tree(self):
        self.assertEqual(self.script("sleep 7654 & (setsid sleep 7654 &) ; sleep 7654", 0.5), (0, 1, 0))
        self.assertIn("time limit", self.report.failures[0][1])
        self.assertFalse(running("sleep\x007654"))

    def test_a_daemon_left_behind_is_named_and_ended(self):
        self.assertEqual(self.script("(setsid sleep 7653 >/dev/null 2>&1 &)"), (0, 1, 0))
        self.assertIn("left running: sleep", self.report.failures[0][1])
        self.assertFalse(running("sleep\x007653"))

    def test_cases_of_catch(self):
        xml = "<Catch>" + CASE.format("a", "true") + CASE.format("b", "true") + "</Catch>"
        self.assertEqual(self.catch("echo 'BH_SKIPPED b: not here'", xml), (1, 0, 1))

    def test_failed_case_of_catch(self):
        xml = ('<Catch><TestCase name="a"><Expression success="false" type="CHECK" filename="f.cc" '
               'line="7"><Original>x == 1</Original><Expanded>2 == 1</Expanded></Expression>'
               '<OverallResult success="false"/></TestCase></Catch>')
        self.assertEqual(self.catch("exit 1", xml), (0, 1, 0))
        self.assertEqual(self.report.failures[0][2], ["f.cc:7: CHECK(x == 1) with 2 == 1"])

    def test_report_cut_off_by_a_crash(self):
        xml = "<Catch>" + CASE.format("a", "true") + '<TestCase name="b">'
        self.assertEqual(self.catch("kill -ABRT $$", xml), (1, 1, 0))
        self.assertEqual(self.report.failures[0][0], "it: b")

    def test_bad_exit_without_a_failed_case(self):
        xml = "<Catch>" + CASE.format("a", "true") + "</Catch>"
        self.assertEqual(self.catch("exit 66", xml), (1, 1, 0))

    def test_catch_without_a_case(self):
        self.assertEqual(self.catch("exit 0", "<Catch></Catch>"), (0, 1, 0))


class Lints(unittest.TestCase):
    def test_arrows(self):
        for name, header, wrong in [
                ("host/core/run.cc", "base/json.h", False), ("host/base/fd.cc", "base/json.h", False),
                ("host/base/fd.cc", "base/none.h", False), ("plugins/x/x.cc", "base/json.h", True),
                ("plugins/x/x.cc", "bulkhead/host.h", True), ("sdk/include/a.h", "base/json.h", True),
                ("plugins/x/x.cc", "bulkhead/plugin.h", False), ("host/mcp/m.cc", "base/json.h", True),
                ("host/cli/c.cc", "bulkhead/host.h", False)]:
            with self.subTest(name=name, header=header):
                self.assertEqual(bool(lints._against(name, header)), wrong)

    def test_every_rule_can_find_something(self):
        tree = lints.Tree.__new__(lints.Tree)
        tree.text = {
            "host/base/long.cc": "\n" * 501,
            "a.md": "see /work" + "/main/x and pypi" + ".org",
            "host/core/x.cc": '#include "bulkhead/none.h"\n// TO' + "DO: more\n",
            "plugins/p/p.cc": '#include "base/json.h"\n',
            "bad.json": "{",
            "bad.py": "def",
        }
        for lint in lints.LINTS:
            with self.subTest(lint=lint.__name__):
                self.assertNotEqual(list(lint(tree)), [])


def running(cmdline):
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", encoding="utf-8", errors="replace") as stream:
                    if cmdline in stream.read():
                        return True
            except OSError:
                pass
    return False


if __name__ == "__main__":
    os.chdir(os.path.join(HERE, "..", ".."))
    result = unittest.main(exit=False, verbosity=1).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - min(bad, result.testsRun)} passed, {bad} failed, {len(result.skipped)} skipped")
    sys.exit(bool(bad))
