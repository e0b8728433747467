#!/usr/bin/env python3
"""layout.py check|update --cc CC --include DIR... --golden DIR --changes CHANGES.md

Measures every struct and field of the headers with a generated C program and compares the result
with the committed goldens, layout_MAJOR_MINOR.json:

  * the golden of the header's own minor must be equal: a layout that changes raises BH_ABI_MINOR;
  * every golden of an older minor must still hold: known fields keep offset, size and type, sizes
    only grow, known constants keep their values.

While 1.0 is a draft its golden carries the draft's number, which is the newest entry's number in
abi/CHANGES.md: `update` writes the golden for it, after the entry has been written.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import drafts
from header_model import HeaderError, headers_in, parse

FROZEN = ("bh_str", "bh_call", "bh_host")
# Not part of the promise: compiler glue, and the library's version, which moves with releases.
NOT_CONSTANTS = re.compile(r"\w+_H|BH_(BEGIN|END)_DECLS|BH_EXPORT|BH_HAS|BH_API|BH_NOEXCEPT"
                           r"|BH_PLUGIN_ENTRY|BH_HOST_VERSION|BH_ABI_MINOR")


def declaration(member):
    text = f"{member.type} (*)({member.params})" if member.is_function else member.type + member.dims
    return re.sub(r"\s*\*\s*", " *", re.sub(r"\s+", " ", text)).replace(" ,", ",").strip()


def measure(cc, includes):
    """What the compiler makes of the headers, as one JSON-able dict."""
    headers = [parse(path) for path in headers_in(includes)]
    lines = [f"#include <bulkhead/{header.path.name}>" for header in headers]
    lines += ["#include <stdio.h>", "int main(void) {"]
    for struct in (s for h in headers for s in h.structs):
        lines.append(f'  printf("S {struct.name} %zu\\n", sizeof({struct.name}));')
        for member in struct.members:
            lines.append(f'  printf("F {struct.name} {member.name} %zu %zu\\n", '
                         f"offsetof({struct.name}, {member.name}), "
                         f"sizeof((({struct.name} *)0)->{member.name}));")
    lines += ["  return 0;", "}"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "layout.c"), Path(folder, "layout")
        source.write_text("\n".join(lines) + "\n")
        flags = [f"-I{include}" for include in includes]
        subprocess.run([cc, "-std=c99", "-Wall", "-Wextra", "-Werror", *flags, str(source), "-o",
                        str(program)], check=True)
        output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in output.splitlines():
        words = line.split()
        if words[0] == "S":
            found[words[1]] = {"size": int(words[2]), "fields": {}}
        else:
            found[words[1]]["fields"][words[2]] = {"offset": int(words[3]), "size": int(words[4])}
    constants = {}
    for header in headers:
        for struct in header.structs:
            for member in struct.members:
                found[struct.name]["fields"][member.name]["type"] = declaration(member)
        for member in header.function_types:
            constants[member.name] = declaration(member)
        constants.update(header.scalars)
        constants.update({k: v for k, v in header.macros.items()
                          if v and not NOT_CONSTANTS.fullmatch(k)})
    macros = {k: v for h in headers for k, v in h.macros.items()}
    return {"abi": {"major": int(macros["BH_ABI_MAJOR"]), "minor": int(macros["BH_ABI_MINOR"])},
            "structs": found, "constants": constants}


def holes(layout):
    """Fields must tile their struct: a gap is a field that the model has lost."""
    for name, struct in layout["structs"].items():
        at = 0
        for field, place in struct["fields"].items():
            if place["offset"] != at:
                yield f"{name}.{field}: at {place['offset']}, but the fields before it end at {at}"
            at = place["offset"] + place["size"]
        if at != struct["size"]:
            yield f"{name}: its fields end at {at}, but sizeof is {struct['size']}"


def broken_promises(golden, now):
    """What an older minor's golden has and today's headers no longer do."""
    for name, struct in golden["structs"].items():
        today = now["structs"].get(name)
        if today is None:
            yield f"struct {name} is gone"
            continue
        for field, place in struct["fields"].items():
            if field not in today["fields"]:
                yield f"{name}.{field} is gone"
            elif today["fields"][field] != place:
                yield f"{name}.{field} was {place}, is {today['fields'][field]}"
        for field, place in today["fields"].items():
            if field not in struct["fields"] and place["offset"] < struct["size"]:
                yield f"{name}.{field} is new but not at the end"
        if today["size"] < struct["size"] or (name in FROZEN and today["size"] != struct["size"]):
            yield f"{name}: sizeof was {struct['size']}, is {today['size']}"
    for name, value in golden["constants"].items():
        if now["constants"].get(name) != value:
            yield f"{name} was {value}, is {now['constants'].get(name)}"


def additions(golden, now):
    for name, struct in now["structs"].items():
        if name not in golden["structs"]:
            yield f"struct {name} is new"
            continue
        for field in struct["fields"]:
            if field not in golden["structs"][name]["fields"]:
                yield f"{name}.{field} is new"
    for name in now["constants"]:
        if name not in golden["constants"]:
            yield f"{name} is new"


def compare(goldens, now, draft):
    """goldens: {(major, minor): golden}. Yields every reason why the layout does not pass."""
    yield from holes(now)
    major, minor = now["abi"]["major"], now["abi"]["minor"]
    own = goldens.get((major, minor))
    if own is None:
        yield f"no golden layout_{major}_{minor}.json for this minor; write it with `update`"
    else:
        changed = list(broken_promises(own, now)) + list(additions(own, now))
        yield from changed
        if changed and own.get("draft") is None:
            yield (f"the layout of {major}.{minor} is released: append at the end, raise "
                   "BH_ABI_MINOR, write a new golden")
        elif changed:
            yield ("the layout of a draft changes with a new entry in abi/CHANGES.md "
                   f"(draft {own['draft'] + 1}), then layout.py update")
        elif list(own["structs"]) != list(now["structs"]) or any(
                list(own["structs"][s]["fields"]) != list(now["structs"][s]["fields"])
                for s in own["structs"]):
            yield "structs or fields stand in another order than in the golden"
        if own.get("draft") is not None and own["draft"] != draft:
            yield (f"layout_{major}_{minor}.json is of draft {own['draft']}, the newest entry in "
                   f"abi/CHANGES.md is draft {draft}")
    for (old_major, old_minor), golden in sorted(goldens.items()):
        if old_major == major and old_minor < minor:
            for reason in broken_promises(golden, now):
                yield f"against {old_major}.{old_minor}: {reason}"
        elif (old_major, old_minor) > (major, minor):
            yield f"layout_{old_major}_{old_minor}.json is newer than the headers"


def load_goldens(folder):
    goldens = {}
    for path in sorted(Path(folder).glob("layout_*.json")):
        golden = json.loads(path.read_text())
        goldens[(golden["abi"]["major"], golden["abi"]["minor"])] = golden
    return goldens


def update(folder, now, changes):
    path = Path(folder, f"layout_{now['abi']['major']}_{now['abi']['minor']}.json")
    golden = {"abi": now["abi"]}
    if not changes.frozen:
        golden["draft"] = changes.newest.draft
    golden.update(structs=now["structs"], constants=now["constants"])
    text = json.dumps(golden, indent=1)
    # One field a line: a changed field is a changed line.
    text = re.sub(r'\{\s+"offset": (\d+),\s+"size": (\d+),\s+"type": ("[^"]*")\s+\}',
                  r'{"offset": \1, "size": \2, "type": \3}', text)
    path.write_text(text + "\n")
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["check", "update"])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--changes", required=True)
    args = parser.parse_args()
    try:
        now = measure(args.cc, args.include)
        changes = drafts.read(args.changes)
    except (HeaderError, drafts.ChangesError, subprocess.CalledProcessError) as error:
        sys.exit(f"layout: {error}")
    if args.verb == "update":
        update(args.golden, now, changes)
        return
    reasons = list(compare(load_goldens(args.golden), now, changes.newest.draft))
    for reason in reasons:
        print(f"layout: {reason}")
    fields = sum(len(s["fields"]) for s in now["structs"].values())
    print(f"layout: {len(now['structs'])} structs, {fields} fields, {len(reasons)} complaints")
    sys.exit(1 if reasons else 0)


if __name__ == "__main__":
    main()
