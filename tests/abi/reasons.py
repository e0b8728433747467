#!/usr/bin/env python3
"""reasons.py ERRORS_MD FOLDER...

Every reason word that our sources give a caller (the third argument of fail() and failure(), and
"reason" in JSON texts) stands in abi/errors.md. --list prints them with the files that use them.
"""
import re
import sys
from pathlib import Path

SOURCES = (".h", ".cc", ".c", ".hpp")
WORD = re.compile(r"[a-z][a-z0-9_]*")


def arguments(text, at):
    """The arguments of the call whose opening parenthesis is at `at`, split at top-level commas."""
    parts, depth, start, i = [], 0, at + 1, at
    while i < len(text):
        char = text[i]
        if char in "\"'":
            raw = re.match(r'R"(\w*)\((.*?)\)\1"', text[i - 1:], re.S) if i and text[i - 1] == "R" \
                else None
            if raw:
                i += raw.end() - 1
                continue
            end = i + 1
            while end < len(text) and text[end] != char:
                end += 2 if text[end] == "\\" else 1
            i = end
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return parts + [text[start:i].strip()]
        elif char == "," and depth == 1:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    return parts


def words_in(text):
    for call in re.finditer(r"\b(?:fail|failure)\s*\(", text):
        args = arguments(text, call.end() - 1)
        if len(args) >= 3:
            literal = re.fullmatch(r'"([^"]*)"', args[2])
            if literal and WORD.fullmatch(literal.group(1)):
                yield literal.group(1)
    for found in re.finditer(r'\\?"reason\\?"\s*:\s*\\?"([a-z][a-z0-9_]*)\\?"', text):
        yield found.group(1)


def documented(path):
    """The words of the tables: `| \\`word\\` |` at a line's start."""
    return set(re.findall(r"^\| `([a-z][a-z0-9_]*)` \|", Path(path).read_text(), re.M))


def main():
    listing = "--list" in sys.argv
    arguments_ = [a for a in sys.argv[1:] if a != "--list"]
    known, used = documented(arguments_[0]), {}
    for folder in arguments_[1:]:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                for word in words_in(path.read_text(encoding="utf-8")):
                    used.setdefault(word, set()).add(path)
    if listing:
        for word in sorted(used):
            print(f"{word}: {', '.join(sorted(p.name for p in used[word]))}")
    unknown = sorted(set(used) - known)
    for word in unknown:
        print(f"reasons: {word} is not in abi/errors.md ({', '.join(map(str, sorted(used[word])))})")
    print(f"reasons: {len(used)} words in the sources, {len(known)} documented, "
          f"{len(unknown)} complaints")
    sys.exit(1 if unknown or not known else 0)


if __name__ == "__main__":
    main()
