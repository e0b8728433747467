"""Reads the ABI's headers into a model: structs with their fields, function pointers, functions.

It is strict on purpose: whatever it does not understand is an error with file and line, so no
struct, field or function can be forgotten by the checks that are built on it (layout, lint,
symbols).
"""
import re
from dataclasses import dataclass, field
from pathlib import Path


class HeaderError(Exception):
    pass


@dataclass
class Member:
    """A field, a function pointer, or (in Header.functions) an exported function."""
    name: str
    type: str
    line: int
    is_function: bool
    params: str
    comment: str  # the one that stands for it: above its group, and behind it on its line
    dims: str = ""
    attributes: str = ""  # of an exported function


@dataclass
class Struct:
    name: str
    line: int
    comment: str
    members: list = field(default_factory=list)


@dataclass
class Header:
    path: Path
    text: str
    structs: list = field(default_factory=list)
    opaque: list = field(default_factory=list)
    scalars: dict = field(default_factory=dict)
    function_types: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    macros: dict = field(default_factory=dict)
    comments: list = field(default_factory=list)
    includes: list = field(default_factory=list)


TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/)|(?P<linecomment>//[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<directive>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.]*)
    |(?P<dots>\.\.\.)|(?P<space>[ \t\r]+)|(?P<newline>\n)|(?P<punct>.)""", re.S | re.M | re.X)


def tokens_of(text):
    """(kind, text, line) of every token; a directive is cut off where its comment begins."""
    out, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        kind, value = match.lastgroup, match.group()
        if kind == "directive" and "/*" in value:
            value = value[:value.index("/*")]
        if kind not in ("space",):
            out.append((kind, value, line))
        line += value.count("\n")
        at += len(value)
    return out


class Parser:
    def __init__(self, path):
        self.path = Path(path)
        self.header = Header(self.path, self.path.read_text(encoding="utf-8"))
        self.tokens = tokens_of(self.header.text)
        self.at = 0
        self.group = ""      # the comment that stands for what follows
        self.group_line = 0  # the last line that still belongs to that group

    def fail(self, message, line=None):
        line = line if line is not None else self.tokens[min(self.at, len(self.tokens) - 1)][2]
        raise HeaderError(f"{self.path}:{line}: {message}")

    def statement(self, stop):
        """Tokens up to `;` (or an opening brace, or `stop`), and what stood above and behind."""
        words, blank_run, start = [], 0, None
        while self.at < len(self.tokens):
            kind, value, line = self.tokens[self.at]
            if kind == "newline":
                blank_run += 1
                if blank_run >= 2 and not words:
                    self.group = ""
                self.at += 1
                continue
            blank_run = 0
            if kind == "linecomment":
                self.fail("// comment; C99 headers here use /* */")
            if kind == "comment":
                self.header.comments.append((line, value))
                if not words:
                    self.group = value
                self.at += 1
                continue
            if kind == "directive":
                self.directive(value, line)
                self.at += 1
                continue
            if kind == "word" and value in ("BH_BEGIN_DECLS", "BH_END_DECLS") and not words:
                self.at += 1
                self.group = ""
                continue
            if value == stop and not words:
                return None, line
            start = start or line
            self.at += 1
            if value in (";", "{"):
                words.append(value)
                return words, start
            words.append(value)
        if words:
            self.fail("declaration without an end: " + " ".join(words))
        return None, 0

    def trailing(self):
        """A comment on the same line behind what was just read."""
        at = self.at
        if at < len(self.tokens) and self.tokens[at][0] == "comment":
            self.header.comments.append((self.tokens[at][2], self.tokens[at][1]))
            self.at += 1
            return self.tokens[at][1]
        return ""

    def directive(self, value, line):
        define = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?\s*(.*)", value, re.S)
        include = re.match(r'\s*#\s*include\s+(\S+)', value)
        if define:
            self.header.macros[define.group(1)] = define.group(3).strip()
        elif include:
            self.header.includes.append(include.group(1))
        elif not re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif|error)\b", value):
            self.fail(f"unexpected directive {value.strip()}", line)

    def parse(self):
        while True:
            words, line = self.statement(None)
            if words is None:
                return self.header
            self.top(words, line)

    def top(self, words, line):
        header, text = self.header, " ".join(words)
        if words[0] == "typedef":
            if words[-1] == "{":
                self.struct(words, line)
                return
            opaque = re.fullmatch(r"typedef struct (\w+) (\w+) ;", text)
            scalar = re.fullmatch(r"typedef (\w+) (\w+) ;", text)
            pointer = re.fullmatch(r"typedef (.+?) \( \* (\w+) \) \( (.*) \) ;", text)
            comment = self.group + " " + self.trailing()
            if opaque and opaque.group(1) == opaque.group(2):
                header.opaque.append(opaque.group(1))
            elif pointer:
                header.function_types.append(Member(pointer.group(2), pointer.group(1), line, True,
                                                    pointer.group(3), comment))
            elif scalar:
                header.scalars[scalar.group(2)] = scalar.group(1)
            else:
                self.fail(f"not understood: {text}", line)
            return
        function = re.fullmatch(r"(BH_API|BH_EXPORT) (.+?) (\w+) \( (.*) \)( BH_NOEXCEPT)? ;",
                                text)
        if not function:
            self.fail(f"not understood: {text}", line)
        header.functions.append(Member(function.group(3), function.group(2), line, True,
                                       function.group(4), self.group + " " + self.trailing(),
                                       attributes=f"{function.group(1)}{function.group(5) or ''}"))

    def struct(self, words, line):
        named = re.fullmatch(r"typedef struct (\w+) \{", " ".join(words))
        if not named:
            self.fail("only `typedef struct NAME {` is understood, not " + " ".join(words), line)
        struct = Struct(named.group(1), line, self.group)
        self.group = ""
        while True:
            words, at = self.statement("}")
            if words is None:
                break
            if words[-1] != ";":
                self.fail("a struct, union or enum inside a struct", at)
            struct.members.append(self.member(words, at))
        self.at += 1  # the closing brace
        tail, _ = self.statement(None)
        if tail != [struct.name, ";"]:
            self.fail(f"the typedef of {struct.name} has another name", line)
        struct.comment += " " + self.trailing()
        self.group = ""
        self.header.structs.append(struct)

    def member(self, words, line):
        text = " ".join(words)
        comment_above = self.group
        function = re.fullmatch(r"(.+?) \( \* (\w+) \) \( (.*) \) ;", text)
        plain = re.fullmatch(r"((?:const )?(?:struct )?\w+(?: const)?(?: \*(?: const)?)*) (\w+)"
                             r"((?: \[ \w+ \])*) ;", text)
        behind = self.trailing()
        # A tag on the line itself stands alone; else the group's comment holds.
        comment = behind if re.search(r"\[(any|serial|last)\]", behind) else (
            comment_above + " " + behind)
        if function:
            return Member(function.group(2), function.group(1), line, True, function.group(3),
                          comment)
        if not plain:
            self.fail(f"field not understood: {text}", line)
        return Member(plain.group(2), plain.group(1), line, False, "", comment, plain.group(3))


def parse(path):
    return Parser(path).parse()


def headers_in(folders):
    """Every header of the folders, by name, so that host.h can lie elsewhere than the others."""
    found = []
    for folder in folders:
        found += sorted(Path(folder).glob("bulkhead/*.h"))
    if not found:
        raise HeaderError(f"no headers in {', '.join(map(str, folders))}")
    return found


def declarations(path):
    """The header without comments and spacing: what two headers must share to be the same."""
    out = []
    for kind, value, _ in tokens_of(Path(path).read_text(encoding="utf-8")):
        if kind in ("comment", "newline", "linecomment"):
            continue
        out.append(re.sub(r"\s+", " ", value.replace("\\\n", " ")).strip())
    return "\n".join(out)
