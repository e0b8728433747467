"""Rules about the tree that a machine can check. Each is a test; a finding names file and line."""
import json
import os
import re
import subprocess

CODE = (".h", ".hh", ".hpp", ".c", ".cc", ".cpp", ".py", ".rs", ".go", ".ts", ".mjs", ".js", ".sh",
        ".cmake")
NATIVE = (".h", ".hpp", ".c", ".cc")
LONGEST = 500

# The floors of host/, lowest first: a room includes from its own and from lower floors. cli, server
# and mcp are embedders: host.h alone, and each other in that order.
FLOOR = {"base": 0, "core": 1, "state": 2, "images": 3, "net": 3, "policy": 3, "loader": 3,
         "sandbox": 4, "browser": 4, "files": 4, "operations": 5, "api": 6}
EMBEDDERS = {"mcp": {"mcp"}, "server": {"server", "mcp"}, "cli": {"cli", "server", "mcp"}}

# Written so that this file does not contain what it looks for.
MACHINE = re.compile(r"/work/(?:main|shared|h)\b|bash_job[s]|/\.pyen[v]|\.cargo/registr[y]")
REGISTRY = re.compile(r"\b(?:deb|security|snapshot|ftp\.\w+)\.debian\.o[r]g|archive\.ubuntu\.co[m]|"
                      r"pypi\.o[r]g|pythonhosted\.o[r]g|registry\.(?:npmj[s]|yarnpk[g])|"
                      r"(?:index|static)\.crates\.i[o]|proxy\.golan[g]|repo1?\.mave[n]")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIXM[E]|XX[X]|HAC[K])\b")
UNDONE = re.compile(r"(?i)\bnot (?:yet )?implemente[d]\b|\bplaceholde[r]\b")


class Tree:
    """The tracked files; text ones are read once."""

    def __init__(self):
        listing = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True)
        names = [name for name in listing.stdout.decode().split("\0") if name]
        self.text = {}
        for name in names:
            if not os.path.isfile(name) or os.path.islink(name):
                continue
            with open(name, "rb") as stream:
                data = stream.read()
            if b"\0" not in data[:4096]:
                self.text[name] = data.decode("utf-8", errors="replace")

    def matches(self, pattern, names=None):
        for name, text in self.text.items():
            if names is not None and not names(name):
                continue
            for number, line in enumerate(text.split("\n"), 1):
                found = pattern.search(line)
                if found:
                    yield f"{name}:{number}: {found.group(0)}"


def _third_party(name):
    return "/third_party/" in name or "/data/" in name or "/corpus/" in name


def too_long(tree):
    """No file of code above 500 lines."""
    for name, text in tree.text.items():
        count = text.count("\n")
        if name.endswith(CODE) and not _third_party(name) and count > LONGEST:
            yield f"{name}: {count} lines"


def machine_paths(tree):
    """No path of the machine that something was written on."""
    return tree.matches(MACHINE)


def registry_hosts(tree):
    """No host name of a package registry: which one serves is the machine's business."""
    return tree.matches(REGISTRY)


def unfinished(tree):
    """No note to come back later; nothing in the product that says it is not there."""
    yield from tree.matches(UNFINISHED, lambda name: name.endswith(CODE) and not _third_party(name))
    yield from tree.matches(UNDONE, lambda name: name.startswith(("host/", "plugins/")) and
                            name.endswith(CODE))


def arrows(tree):
    """Includes follow the one-way arrows between the rooms (host/README.md)."""
    include = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
    for name, text in tree.text.items():
        if not name.endswith(NATIVE):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            found = include.match(line)
            wrong = found and _against(name, found.group(1))
            if wrong:
                yield f"{name}:{number}: {wrong}"


def _against(name, header):
    parts = name.split("/")
    top, room = parts[0], parts[1] if len(parts) > 2 else ""
    target = header.split("/")[0]
    if top == "plugins" and (header.startswith("bulkhead/host.") or header.startswith("host/") or
                             target in FLOOR and not header.startswith("bulkhead/")
                             and os.path.exists(f"host/{header}")):
        return f"a plugin includes the host's {header}"
    if top == "sdk" and os.path.exists(f"host/{header}"):
        return f"the SDK includes the host's {header}"
    if top != "host" or not os.path.exists(f"host/{header}"):
        return None
    if room in EMBEDDERS:
        return None if target in EMBEDDERS[room] else f"{room} includes {header}"
    if room in FLOOR:
        if target in EMBEDDERS or FLOOR.get(target, 0) > FLOOR[room] or (
                FLOOR.get(target) == FLOOR[room] and target != room):
            return f"{room} includes {header}"
    return None


def scripts(tree):
    """Every script parses and can be started."""
    for name, text in tree.text.items():
        if text.startswith("#!") and not os.access(name, os.X_OK):
            yield f"{name}: has an interpreter line and no x bit"
        if name.endswith(".sh") or name == ".ci/run":
            check = subprocess.run(["bash", "-n", name], capture_output=True, text=True)
            if check.returncode:
                yield f"{name}: {check.stderr.strip()}"
        elif name.endswith(".py"):
            try:
                compile(text, name, "exec")
            except SyntaxError as error:
                yield f"{name}: {error}"


def json_files(tree):
    """Every JSON file parses, but those that tests break on purpose."""
    for name, text in tree.text.items():
        if name.endswith(".json") and not name.startswith(("tests/broken/", "tests/fuzz/")):
            try:
                json.loads(text)
            except ValueError as error:
                yield f"{name}: {error}"


LINTS = [too_long, machine_paths, registry_hosts, unfinished, arrows, scripts, json_files]


def run_lints(report):
    tree = Tree()
    for lint in LINTS:
        findings = list(lint(tree))
        if findings:
            report.fail(f"lint/{lint.__name__}", " ".join(lint.__doc__.split()), findings[:20])
        else:
            report.passed += 1
    print(f"lint: {len(LINTS)} rules over {len(tree.text)} files", flush=True)


def run_format(report):
    """clang-format over the native code; its output differs by major, so only 14 is asked."""
    names = [name for name in Tree().text if name.endswith(NATIVE) and not _third_party(name)
             and not name.startswith("tests/abi/frozen")]
    try:
        check = subprocess.run(["clang-format-14", "--dry-run", "-Werror", *names],
                               capture_output=True, text=True)
    except FileNotFoundError:
        report.skip("lint/format", "clang-format-14 is not here")
        return
    if check.returncode:
        files = sorted({line.split(":")[0] for line in check.stderr.split("\n") if "error:" in line})
        report.fail("lint/format", f"{len(files)} files differ from clang-format", files[:20])
    else:
        report.passed += 1
