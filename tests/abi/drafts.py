#!/usr/bin/env python3
"""drafts.py check --include DIR... --frozen DIR --changes CHANGES.md | digest --include DIR...

Holds abi/CHANGES.md, the headers and the frozen copy together. Each entry of CHANGES.md is
`## MAJOR.MINOR, draft N` (newest first) with a line `declarations: sha256 HEX`: the digest of all
headers without comments and spacing (comments may be mended at any time). The file says
`frozen: no` until 1.0 is final.

  * headers in abi/ and host.h have the digest of the newest entry;
  * the frozen copy has the digest of the entry that its README.md names (`draft: N`), and while
    nothing is frozen that is the newest entry.
"""
import argparse
import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from header_model import HeaderError, declarations, headers_in


class ChangesError(Exception):
    pass


@dataclass
class Entry:
    version: str
    draft: int
    digest: str


@dataclass
class Changes:
    frozen: bool
    entries: list

    @property
    def newest(self):
        return self.entries[0]


def read(path):
    text = Path(path).read_text(encoding="utf-8")
    frozen = re.findall(r"^frozen: (yes|no)$", text, re.M)
    if len(frozen) != 1:
        raise ChangesError(f"{path}: exactly one line `frozen: yes` or `frozen: no` is due")
    entries = []
    parts = re.split(r"^## ", text, flags=re.M)[1:]
    for part in parts:
        head = re.match(r"(\d+\.\d+), draft (\d+)\n", part)
        digests = re.findall(r"^declarations: sha256 ([0-9a-f]{64})$", part, re.M)
        if not head or len(digests) != 1:
            raise ChangesError(f"{path}: an entry is `## MAJOR.MINOR, draft N` with one line "
                               f"`declarations: sha256 HEX`, not: {part.splitlines()[0]}")
        body = re.sub(r"^declarations:.*$", "", part.split("\n", 1)[1], flags=re.M)
        if len(body.split()) < 5:
            raise ChangesError(f"{path}: draft {head.group(2)} does not say what changed and why")
        entries.append(Entry(head.group(1), int(head.group(2)), digests[0]))
    numbers = [entry.draft for entry in entries]
    if not entries or numbers != list(range(numbers[0], 0, -1)):
        raise ChangesError(f"{path}: drafts must count down to 1 from the newest, found {numbers}")
    for newer, older in zip(entries, entries[1:]):
        if newer.digest == older.digest:
            raise ChangesError(f"{path}: drafts {newer.draft} and {older.draft} are the same")
    return Changes(frozen[0] == "yes", entries)


def digest(includes):
    total = hashlib.sha256()
    for path in sorted(headers_in(includes), key=lambda p: p.name):
        text = re.sub(r"#define BH_HOST_VERSION \S+", "", declarations(path))
        total.update(path.name.encode() + b"\0" + text.encode() + b"\0")
    return total.hexdigest()


def complaints(includes, frozen_folder, changes):
    today, copy = digest(includes), digest([Path(frozen_folder, "include")])
    newest = changes.newest
    if today != newest.digest:
        yield (f"the headers' declarations have sha256 {today}, which the newest entry "
               f"(draft {newest.draft}) does not name: write entry draft {newest.draft + 1} in "
               "abi/CHANGES.md, then bring the frozen copy and the golden along")
    readme = Path(frozen_folder, "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^draft: (\d+)$", readme, re.M)
    if len(named) != 1:
        yield "the frozen copy's README.md has no line `draft: N`"
        return
    known = {entry.draft: entry for entry in changes.entries}
    entry = known.get(int(named[0]))
    if entry is None:
        yield f"the frozen copy says draft {named[0]}, which abi/CHANGES.md does not know"
    elif entry.digest != copy:
        yield (f"the frozen copy has sha256 {copy}, draft {entry.draft} in abi/CHANGES.md has "
               f"{entry.digest}: it changes with an entry only")
    elif not changes.frozen and entry is not newest:
        yield f"the frozen copy is of draft {entry.draft}, the newest is draft {newest.draft}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["check", "digest"])
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--frozen")
    parser.add_argument("--changes")
    args = parser.parse_args()
    try:
        if args.verb == "digest":
            print(digest(args.include))
            return
        found = list(complaints(args.include, args.frozen, read(args.changes)))
    except (HeaderError, ChangesError) as error:
        sys.exit(f"drafts: {error}")
    for complaint in found:
        print(f"drafts: {complaint}")
    print(f"drafts: {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
