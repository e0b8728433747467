#!/usr/bin/env python3
"""lint_headers.py --include DIR... --readme abi/README.md [--bad DIR]

The ABI's rules, as far as a machine can check them. With --bad it tests itself: each header in DIR
breaks one rule, names it in its last line (`/* lint: rule */`), and must be caught by that rule.
"""
import argparse
import re
import sys
from pathlib import Path

from header_model import HeaderError, headers_in, parse, tokens_of

FROZEN = {"bh_str", "bh_call", "bh_host"}
# Structs with functions that are handed over as input; they grow by struct_size alone.
INPUT_WITH_FUNCTIONS = {"bh_run_io"}
BANNED = {"enum", "union", "bool", "_Bool", "long", "short", "int", "unsigned", "signed", "double",
          "float", "wchar_t", "time_t", "off_t", "ssize_t", "mode_t", "pid_t", "va_list", "errno"}
KEYWORDS = set("""
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq
    as async await become box crate dyn final fn gen impl in let loop macro match mod move mut
    override priv pub ref self Self super trait type typeof unsafe unsized use where yield
    chan defer fallthrough func go import interface map package range select var
    False None True assert class def del elif except finally from global is lambda nonlocal pass
    raise with restrict""".split())
CONVENTIONS = ["Text", "Bytes", "Inputs", "Outputs", "Growth", "Unknown", "Types", "Unwinding",
               "Threads"]
TAGS = {"any", "serial", "last"}


class Lint:
    def __init__(self, headers, readme):
        self.headers = headers
        self.readme = readme
        self.found = []
        self.structs = {s.name for h in headers for s in h.structs}
        self.opaque = {name for h in headers for name in h.opaque}

    def say(self, header, line, rule, message):
        self.found.append((header.path.name, line, rule, message))

    def run(self):
        for header in self.headers:
            self.file_rules(header)
            self.name_rules(header)
            for struct in header.structs:
                self.struct_rules(header, struct)
            for function in header.functions + header.function_types:
                self.thread_tag(header, function, "")
                self.signature_rules(header, function)
                if function.attributes == "BH_API":
                    self.say(header, function.line, "noexcept",
                             f"{function.name}: no BH_NOEXCEPT at its end")
        return self.found

    def file_rules(self, header):
        text, name = header.text, header.path.name
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 100:
                self.say(header, number, "line-length", f"{len(line)} columns")
            if not line.isascii() or "\t" in line or line != line.rstrip():
                self.say(header, number, "ascii", "a tab, a trailing space or a byte beyond ASCII")
        if not text.startswith(f"/* bulkhead/{name} - "):
            self.say(header, 1, "conventions-first", f"does not begin with /* bulkhead/{name} - ")
        first = text[:text.index("*/")] if "*/" in text else ""
        if name == "base.h":
            for word in CONVENTIONS:
                if not re.search(rf"^ \*   {word} ", first, re.M):
                    self.say(header, 1, "conventions-first", f"base.h does not speak of {word}")
        guard = f"BH_{Path(name).stem.upper()}_H"
        behind = text[len(first) + 2:].lstrip()
        if not behind.startswith(f"#ifndef {guard}\n#define {guard}\n"):
            self.say(header, 1, "guard", f"the include guard {guard} is not what comes first")
        if name != "base.h" and (text.count("\nBH_BEGIN_DECLS\n"), text.count("\nBH_END_DECLS\n")) \
                != (1, 1):
            self.say(header, 1, "extern-c", "BH_BEGIN_DECLS and BH_END_DECLS, once each")
        for include in header.includes:
            allowed = {"base.h": {"<stddef.h>", "<stdint.h>"}, "host.h": {"<bulkhead/base.h>"},
                       "mcp.h": {"<bulkhead/host.h>"}}
            own = {f'"{h.path.name}"' for h in self.headers} - {'"host.h"', '"mcp.h"'}
            if include not in allowed.get(name, own):
                self.say(header, 1, "include", f"{include}: no dependency, and host.h apart")

    def name_rules(self, header):
        names = [s.name for s in header.structs] + header.opaque + list(header.scalars)
        names += [f.name for f in header.functions + header.function_types]
        for name in names:
            if not name.startswith("bh_") and name != "BH_PLUGIN_ENTRY":
                self.say(header, 1, "prefix", f"{name} does not begin with bh_")
        for name, value in header.macros.items():
            if not name.startswith("BH_"):
                self.say(header, 1, "prefix", f"{name} does not begin with BH_")
            if re.fullmatch(r'"bh\..*"', value):
                if not re.fullmatch(r'"bh\.[a-z]+(\.[a-z]+)?/[1-9]\d*"', value):
                    self.say(header, 1, "interface-id", f"{value} is not \"bh.noun.noun/MAJOR\"")
                if value.strip('"') not in self.readme:
                    self.say(header, 1, "interface-id", f"{value} is not in abi/README.md")

    def struct_rules(self, header, struct):
        members = struct.members
        functions = [m for m in members if m.is_function]
        if struct.name not in FROZEN:
            if not members or (members[0].type, members[0].name) != ("uint32_t", "struct_size"):
                self.say(header, struct.line, "struct-size", f"{struct.name}: no struct_size first")
            if functions and struct.name not in INPUT_WITH_FUNCTIONS and (
                    len(members) < 2 or (members[1].type, members[1].name)
                    != ("uint32_t", "abi_minor")):
                self.say(header, struct.line, "abi-minor", f"{struct.name}: no abi_minor second")
        names = [m.name for m in members]
        for name in {n for n in names if names.count(n) > 1}:
            self.say(header, struct.line, "keyword", f"{struct.name}.{name} is there twice")
        for at, member in enumerate(members):
            if member.name in KEYWORDS:
                self.say(header, member.line, "keyword", f"{struct.name}.{member.name}")
            if member.dims:
                self.say(header, member.line, "array", f"{struct.name}.{member.name}")
            if member.is_function:
                self.thread_tag(header, member, struct.comment)
                self.signature_rules(header, member)
                continue
            if member.type in self.structs - {"bh_str"}:
                self.say(header, member.line, "by-value",
                         f"{struct.name}.{member.name}: a struct that may grow, inside another")
            if member.name in ("count", "argc") or member.name.endswith("_count"):
                near = members[at - 1:at] + members[at + 1:at + 2]
                if not any(self.growable_array(m.type) is False for m in near):
                    self.say(header, member.line, "array-of-structs",
                             f"{struct.name}.{member.name}: arrays hold pointers")

    def growable_array(self, type_text):
        """True: an array of structs that may grow. False: of pointers, or of frozen things."""
        base = re.sub(r"\b(const|struct)\b|[ *]", "", type_text)
        stars = type_text.count("*")
        if stars == 0:
            return None
        return base in self.structs - FROZEN and stars == 1

    def thread_tag(self, header, member, table_comment):
        own = set(re.findall(r"\[([a-z]+)\]", member.comment))
        table = re.search(r"All((?:[\s*]+\[[a-z]+\])+)", table_comment)
        table = set(re.findall(r"\[([a-z]+)\]", table.group(1))) if table else set()
        for tag in (own | table) - TAGS - {"blocking"}:
            self.say(header, member.line, "thread-tag", f"{member.name}: [{tag}] is not a tag")
        tags = own & TAGS or table & TAGS
        if len(tags) != 1:
            self.say(header, member.line, "thread-tag",
                     f"{member.name}: one of [any], [serial], [last] is due, found {sorted(tags)}")
        if member.name.endswith("_free") and tags != {"last"}:
            self.say(header, member.line, "thread-tag", f"{member.name}: _free is [last]")

    def signature_rules(self, header, member):
        if "..." in member.params.replace(" ", ""):
            self.say(header, member.line, "banned-type", f"{member.name}: varargs")
        params = [p.strip() for p in member.params.split(",")]
        for text in [member.type] + [re.sub(r"\b\w+$", "", p) for p in params]:
            base = re.sub(r"\b(const|struct)\b|[ *]", "", text)
            if base in self.structs | self.opaque and "*" not in text:
                self.say(header, member.line, "by-value", f"{member.name}: {base} by value")
        for at, param in enumerate(params):
            following = params[at + 1] if at + 1 < len(params) else ""
            if re.fullmatch(r"const char \* \w+", param) \
                    and not re.fullmatch(r"const char \* \w+_id", param) \
                    and not following.startswith("size_t "):
                self.say(header, member.line, "length", f"{member.name}: text without a length")
            if re.fullmatch(r"const void \* \w+", param) and not following.startswith("size_t "):
                self.say(header, member.line, "length", f"{member.name}: bytes without a length")
            if following.endswith("_count") and self.growable_array(
                    re.sub(r"\b\w+$", "", param)) is not False:
                self.say(header, member.line, "array-of-structs", f"{member.name}: {param}")


def token_rules(path):
    """What would not even parse: said by rule, before the strict reader stumbles over it."""
    found, text = [], Path(path).read_text(encoding="utf-8", errors="replace")
    previous = ""
    for kind, value, line in tokens_of(text):
        if kind == "word" and value in BANNED:
            found.append((Path(path).name, line, "banned-type", value))
        if kind == "dots":
            found.append((Path(path).name, line, "banned-type", "varargs"))
        if kind == "linecomment":
            found.append((Path(path).name, line, "c99", "// comment"))
        if kind == "punct" and value == ":" and previous:
            found.append((Path(path).name, line, "banned-type", "bit-field"))
        if kind not in ("comment", "newline"):
            previous = value
    return found


def lint(paths, readme):
    found, headers = [], []
    for path in paths:
        found += token_rules(path)
        try:
            headers.append(parse(path))
        except HeaderError as error:
            found.append((Path(path).name, 1, "syntax", str(error)))
    return found + Lint(headers, readme).run()


def self_test(folder, good, readme):
    """Each bad header, beside the good ones, must be caught by the rule that it names."""
    missed, seen = [], set()
    paths = sorted(Path(folder).rglob("*.h"))
    for path in paths:
        rule = re.search(r"/\* lint: ([a-z0-9-]+) \*/\s*\Z", path.read_text(encoding="utf-8"))
        if not rule:
            missed.append(f"{path}: its last line does not name a rule")
            continue
        seen.add(rule.group(1))
        beside = [p for p in good if p.name != path.name]
        rules = {r for name, _, r, _ in lint(beside + [path], readme) if name == path.name}
        if rule.group(1) not in rules:
            missed.append(f"{path.name}: {rule.group(1)} did not catch it, found {sorted(rules)}")
        elif rules - {rule.group(1), "syntax"}:
            missed.append(f"{path.name}: breaks more than one rule: {sorted(rules)}")
    source = Path(__file__).read_text()
    rules = set(re.findall(r'self\.say\([^"]*?"([a-z0-9-]+)"', source))
    rules |= set(re.findall(r'found\.append\(\(Path\(path\)\.name, \w+, "([a-z0-9-]+)"', source))
    for rule in sorted(rules - seen):
        missed.append(f"no bad header tries the rule {rule}")
    return len(paths), missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--readme", required=True)
    parser.add_argument("--bad")
    args = parser.parse_args()
    good = headers_in(args.include)
    readme = Path(args.readme).read_text(encoding="utf-8")
    if args.bad:
        count, missed = self_test(args.bad, good, readme)
        for line in missed:
            print(f"lint self-test: {line}")
        print(f"lint self-test: {count} bad headers, {len(missed)} complaints")
        sys.exit(1 if missed or not count else 0)
    found = lint(good, readme)
    for name, line, rule, message in found:
        print(f"lint: {name}:{line}: {rule}: {message}")
    print(f"lint: {len(good)} headers, {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
