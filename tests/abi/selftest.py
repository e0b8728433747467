#!/usr/bin/env python3
"""selftest.py --cc CC --include DIR... --changes CHANGES.md --frozen DIR --golden DIR

The layout and draft checks, tried on copies of the headers that somebody has tampered with: a check
that lets one of these pass checks nothing.
"""
import argparse
import copy
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import drafts
import layout

ARGS = None


class Tampered(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.include = self.folder / "include"
        for folder in ARGS.include:
            shutil.copytree(folder, self.include, dirs_exist_ok=True)
        self.frozen = self.folder / "frozen"
        shutil.copytree(ARGS.frozen, self.frozen)
        self.changes_file = self.folder / "CHANGES.md"
        shutil.copy(ARGS.changes, self.changes_file)

    def edit(self, name, old, new, base=None):
        path = (base or self.include) / "bulkhead" / name
        text = path.read_text()
        self.assertEqual(text.count(old), 1, f"{old} in {name}")
        path.write_text(text.replace(old, new))

    def measured(self):
        return layout.measure(ARGS.cc, [self.include])

    def check(self, now=None, goldens=None):
        changes = drafts.read(self.changes_file)
        return list(layout.compare(goldens or layout.load_goldens(ARGS.golden),
                                   now or self.measured(), changes.newest.draft))

    def released(self):
        goldens = copy.deepcopy(layout.load_goldens(ARGS.golden))
        for golden in goldens.values():
            golden.pop("draft", None)
        return goldens

    def assert_says(self, reasons, part):
        self.assertTrue(any(part in reason for reason in reasons), f"{part!r} not in {reasons}")

    FIRST = "  int32_t reason;\n"
    LAST = "  int64_t peak_bytes; /* -1 unknown */\n"

    def test_untouched(self):
        self.assertEqual(self.check(), [])

    def test_inserted_field(self):
        self.edit("isolation.h", self.FIRST, "  uint64_t added;\n" + self.FIRST)
        self.assert_says(self.check(), "bh_exit.reason was")

    def test_appended_field_without_a_minor(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n")
        self.assert_says(self.check(), "bh_exit.added is new")
        self.assert_says(self.check(goldens=self.released()), "raise BH_ABI_MINOR")

    def test_appended_field_with_a_minor(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n")
        self.edit("plugin.h", "BH_ABI_MINOR 0 ", "BH_ABI_MINOR 1 ")
        now = self.measured()
        goldens = self.released()
        self.assert_says(self.check(now, goldens), "no golden layout_1_1.json")
        goldens[(1, 1)] = now
        self.assertEqual(self.check(now, goldens), [])

    def test_inserted_field_with_a_minor(self):
        self.edit("isolation.h", self.FIRST, "  uint64_t added;\n" + self.FIRST)
        self.edit("plugin.h", "BH_ABI_MINOR 0 ", "BH_ABI_MINOR 1 ")
        now = self.measured()
        goldens = self.released()
        goldens[(1, 1)] = now
        self.assert_says(self.check(now, goldens), "against 1.0: bh_exit.reason was")

    def test_swapped_functions(self):
        pause = "  bh_status (*pause)(void *sandbox, bh_call *call);\n"
        resume = pause.replace("pause", "resume")
        self.edit("isolation_state.h", pause + resume, resume + pause)
        self.assert_says(self.check(), "bh_isolation_pause.pause was")

    def test_retyped_parameter(self):
        self.edit("isolation_state.h", "uint32_t port, bh_fd", "int32_t port, bh_fd")
        self.assert_says(self.check(), "bh_isolation_ports.dial was")

    def test_renumbered_code(self):
        self.edit("isolation.h", "BH_EXIT_SIGNAL  2", "BH_EXIT_SIGNAL  9")
        self.assert_says(self.check(), "BH_EXIT_SIGNAL was 2")

    def test_lost_field(self):
        now = self.measured()
        del now["structs"]["bh_call_api"]["fields"]["emit"]
        self.assert_says(self.check(now), "bh_call_api.attach: at")

    def test_frozen_struct_may_not_grow(self):
        self.edit("plugin.h", "  const bh_host *host; /* may be kept */\n",
                  "  const bh_host *host; /* may be kept */\n  void *more;\n")
        self.edit("plugin.h", "BH_ABI_MINOR 0 ", "BH_ABI_MINOR 1 ")
        now = self.measured()
        goldens = self.released()
        goldens[(1, 1)] = now
        self.assert_says(self.check(now, goldens), "bh_call: sizeof was")

    def complaints(self):
        return list(drafts.complaints([self.include], self.frozen,
                                      drafts.read(self.changes_file)))

    def test_comments_are_free(self):
        self.edit("isolation.h", "/* -1: none */", "/* -1: there is none */")
        self.assertEqual(self.complaints(), [])

    def test_header_changed_without_an_entry(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n")
        self.assert_says(self.complaints(), "write entry draft")

    def test_frozen_copy_changed_without_an_entry(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n",
                  base=self.frozen / "include")
        self.assert_says(self.complaints(), "it changes with an entry only")

    def new_entry(self):
        newest = drafts.read(self.changes_file).newest.draft
        entry = (f"## 1.0, draft {newest + 1}\ndeclarations: sha256 "
                 f"{drafts.digest([self.include])}\n\nWhy it had to be, in a sentence.\n\n")
        text = self.changes_file.read_text()
        self.changes_file.write_text(text.replace("## ", entry + "## ", 1))
        return newest

    def test_entry_without_golden_and_frozen_copy(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n")
        self.new_entry()
        self.assert_says(self.complaints(), "the frozen copy is of draft")
        self.assert_says(self.check(), "is of draft")

    def test_entry_with_everything(self):
        self.edit("isolation.h", self.LAST, self.LAST + "  int64_t added;\n")
        newest = self.new_entry()
        shutil.copytree(self.include, self.frozen / "include", dirs_exist_ok=True)
        readme = self.frozen / "README.md"
        readme.write_text(readme.read_text().replace(f"draft: {newest}", f"draft: {newest + 1}"))
        self.assertEqual(self.complaints(), [])
        layout.update(self.folder, self.measured(), drafts.read(self.changes_file))
        self.assertEqual(self.check(goldens=layout.load_goldens(self.folder)), [])


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", action="append", required=True)
    for name in ("--changes", "--frozen", "--golden"):
        parser.add_argument(name, required=True)
    ARGS = parser.parse_args()
    unittest.main(argv=[sys.argv[0]], verbosity=1)


if __name__ == "__main__":
    main()
