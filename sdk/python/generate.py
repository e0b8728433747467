#!/usr/bin/env python3
"""Writes bulkhead/nouns/ from the operations' schemas, as the library lists them.

    sdk/python/generate.py            writes
    sdk/python/generate.py --check    compares, and exits with 1 where something differs
"""
import keyword
import pathlib
import sys
import textwrap
import types

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "bulkhead" / "nouns"
# The package without its __init__, which needs what is written here.
bare = types.ModuleType("bulkhead")
bare.__path__ = [str(HERE / "bulkhead")]
sys.modules["bulkhead"] = bare

from bulkhead import _library, _wire  # noqa: E402
from bulkhead.run import Run  # noqa: E402

# Operations on a sandbox's files, as the methods of box.files.
FILE_METHODS = {
    "read_file": "read", "write_file": "write", "list_files": "list", "search_files": "search",
    "file_info": "info", "move_files": "move", "remove_files": "remove",
    "set_permissions": "set_permissions", "replace_in_files": "replace",
    "make_folders": "make_folders", "remove_folders": "remove_folders",
}
# How a sandbox is named or shaped: a bound one has settled that.
SHAPE = ("sandbox", "backend", "workspace", "profile", "image")
RESERVED = {"input", "call_timeout", "self"}

HEAD = '''"""{title}

Written by sdk/python/generate.py from the operations' schemas; a test compares.
"""
from typing import Any, Generic, List, Mapping, Optional, Sequence, TypeVar, Union

R = TypeVar("R")  # a record, or what awaits one
I = TypeVar("I")  # a list of records  # noqa: E741
B = TypeVar("B")  # bytes
S = TypeVar("S")  # a sandbox
X = TypeVar("X")  # a run
'''


def argument(name):
    """What a parameter is called; a word of Python's own gets an underscore."""
    return name + "_" if keyword.iskeyword(name) else name


def python_type(schema):
    if "anyOf" in schema or "oneOf" in schema:
        parts = [python_type(part) for part in schema.get("anyOf", schema.get("oneOf"))]
        if "str" in parts and any(part.startswith("Mapping") for part in parts):
            return "Union[str, bytes]"
        parts = list(dict.fromkeys(parts))
        return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
    if "enum" in schema:
        return "str"
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((part for part in kind if part != "null"), None)
    if kind == "array":
        return f"Sequence[{python_type(schema.get('items', {}))}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool",
            "object": "Mapping[str, Any]"}.get(kind, "Any")


def shape_of(operation):
    """What a helper gives: its Python type and the word that _invoke() is told."""
    name, output = operation["name"], operation.get("output") or ""
    if name in ("sandbox.create", "sandbox.connect"):
        return "S", "sandbox"
    if name.endswith(".follow") or name == "job.attach":
        return "X", "run"
    if output.startswith("items"):
        return "I", "items"
    if "stream 3" in output:
        return "B", "bytes"
    return "R", "record"


def docstring(operation, arguments, extra):
    lines = textwrap.wrap(operation["summary"], 92)
    told = []
    for name, schema in arguments.items():
        if schema.get("description"):
            told.append(textwrap.fill(f"{argument(name)}: {' '.join(schema['description'].split())}", 92,
                                      subsequent_indent="    "))
    told += extra
    if operation.get("output"):
        told.append(textwrap.fill(f"Gives: {operation['output']}.", 92, subsequent_indent="    "))
    if operation.get("reasons"):
        told.append(textwrap.fill("Reasons: " + ", ".join(operation["reasons"]) + ".", 92,
                                  subsequent_indent="    "))
    text = "\n".join(lines)
    if told:
        text += "\n\n" + "\n".join(told) + "\n"
    text = textwrap.indent(text, " " * 8).lstrip()
    return f'        """{text}{"        " if told else ""}"""'


def method(operation, bound):
    """The lines of one helper; bound: a method of a sandbox that is at hand."""
    schema = operation["args"]
    properties = dict(schema.get("properties", {}))
    gives, shape = shape_of(operation)
    fixed = {}
    if "collect" in properties:
        del properties["collect"]
        if shape == "record":
            fixed["collect"] = "True"  # else the output would be told to nobody
    if bound:
        properties = {name: value for name, value in properties.items() if name not in SHAPE}
        fixed["sandbox"] = "self._id"
    clash = RESERVED & set(properties)
    if clash:
        raise SystemExit(f"{operation['name']}: arguments called {clash} need another way")
    required = [name for name in schema.get("required", []) if name in properties]
    optional = [name for name in properties if name not in required]
    takes = ["self"] + [f"{argument(name)}: {python_type(properties[name])}" for name in required] + ["*"]
    takes += [f"{argument(name)}: Optional[{python_type(properties[name])}] = None" for name in optional]
    extra = []
    if operation.get("input"):
        takes.append("input: Any = None")
        extra.append(textwrap.fill(f"input: {operation['input']}; bytes, text, a file, or an iterable of "
                                   "bytes.", 92, subsequent_indent="    "))
    takes.append("call_timeout: Optional[float] = None")
    name = operation["name"].split(".", 1)[1]
    if bound:
        name = FILE_METHODS.get(name, name)
    lines = [f"    def {argument(name)}("]
    whole = ", ".join(item.replace(" ", "\0") for item in takes) + f")\0->\0{gives}:"
    lines += [line.replace("\0", " ") for line in textwrap.wrap(
        whole, 92, initial_indent=" " * 12, subsequent_indent=" " * 12, break_long_words=False)]
    ordered = {key: properties[key] for key in required + optional}
    lines.append(docstring(operation, ordered, extra))
    passed = [f'"{key}": {value}' for key, value in fixed.items()]
    passed += [f'"{key}": {argument(key)}' for key in ordered]
    sent = "input" if operation.get("input") else "None"
    lines.append(f'        return self._invoke("{operation["name"]}", {{  # type: ignore[no-any-return]')
    lines += textwrap.wrap(", ".join(passed), 88, initial_indent=" " * 12, subsequent_indent=" " * 12)
    lines.append(f'        }}, "{shape}", {sent}, call_timeout)')
    return "\n".join(lines)


def module(title, name, operations, bound, base=None):
    """One class in a file of its own; base: (module, class) that it adds to. All have the same
    parameters, so that a new operation never changes how a class is named."""
    text = HEAD.format(title=title)
    bases = "Generic[R, I, B, S, X]"
    if base:
        text = text.replace("\nR = ", f"\nfrom .{base[0]} import {base[1]}\n\nR = ", 1)
        bases = f"{base[1]}[R, I, B, S, X]"
    text += f'\n\nclass {name}({bases}):\n    """{title}"""\n\n'
    if bound:
        text += ("    def __init__(self, invoke: Any, id: str) -> None:\n"
                 "        self._invoke = invoke\n        self._id = id\n")
    else:
        text += "    def __init__(self, invoke: Any) -> None:\n        self._invoke = invoke\n"
    for operation in operations:
        text += "\n" + method(operation, bound) + "\n"
    return text


def one_class(noun, operations):
    return (f"The operations of the noun {noun}: session.{noun}.", class_name(noun), operations, False)


def package(nouns):
    """nouns/__init__.py: what every session has."""
    text = '"""The operations by noun: what every session has.\n\nWritten by sdk/python/generate.py; a test compares.\n"""\n'
    text += "from typing import Any, Generic, TypeVar\n\n"
    for noun in sorted(nouns):
        text += f"from .{module_name(noun)} import {class_name(noun)}\n"
    text += ('\nR = TypeVar("R")\nI = TypeVar("I")  # noqa: E741\nB = TypeVar("B")\nS = TypeVar("S")\n'
             'X = TypeVar("X")\n\n\nclass Nouns(Generic[R, I, B, S, X]):\n'
             '    """One attribute for each noun of the host\'s operations."""\n\n'
             "    def __init__(self, invoke: Any) -> None:\n")
    for noun in sorted(nouns):
        text += f"        self.{noun}: {class_name(noun)}[R, I, B, S, X] = {class_name(noun)}(invoke)\n"
    return text


def module_name(noun):
    return noun if noun.endswith("s") else noun + ("es" if noun.endswith("x") else "s")


def class_name(noun):
    return module_name(noun).capitalize()


def listed():
    """What operation.list tells."""
    lib = _library.library()
    runtime = _wire.Handle(lib.make(lib.bh_runtime_new, *_library.packed('{"version": 1}')),
                           lib.bh_runtime_free, "runtime")
    session = _wire.Handle(lib.make(lib.bh_session_new, runtime.raw, *_library.packed('{"operator": true}')),
                           lib.bh_session_free, "session")
    run = _wire.OpenRun(lib, runtime, session, "operation.list", None, (), None, False)
    try:
        return Run(run).reply().items
    finally:
        lib.bh_runtime_close(runtime.raw, 1000, None)


def written():
    """File name -> text."""
    operations = listed()
    nouns = {}
    for operation in sorted(operations, key=lambda o: (o["name"], o["version"])):
        nouns.setdefault(operation["name"].split(".")[0], []).append(operation)
    files = {"__init__.py": package(nouns)}
    for noun, mine in nouns.items():
        if noun != "sandbox":
            files[module_name(noun) + ".py"] = module(*one_class(noun, mine))
    of_files = [operation for operation in nouns["sandbox"] if operation["name"].split(".")[1] in FILE_METHODS]
    life = [operation for operation in nouns["sandbox"] if operation not in of_files]
    files["sandboxes.py"] = module("The operations of the noun sandbox: session.sandbox.", "Sandboxes",
                                   life, False, ("sandboxes_files", "SandboxesFiles"))
    files["sandboxes_files.py"] = module("The operations of session.sandbox on files inside.", "SandboxesFiles",
                                         of_files, False)
    bound = [operation for operation in nouns["sandbox"]
             if "sandbox" in operation["args"].get("properties", {}) and operation["name"] != "sandbox.connect"]
    on_files = [operation for operation in bound if operation in of_files]
    rest = [operation for operation in bound if operation not in on_files]
    files["sandbox.py"] = module("The operations on one sandbox that is at hand.", "BoundSandbox",
                                 rest, True)
    files["sandbox_files.py"] = module("box.files: the files that a process inside sees.", "BoundFiles",
                                       on_files, True)
    return files


def main():
    files = written()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    if "--check" in sys.argv[1:]:
        different = [name for name in sorted(files.keys() | there.keys()) if files.get(name) != there.get(name)]
        for name in different:
            print(f"sdk/python/bulkhead/nouns/{name} is not what the schemas give: run sdk/python/generate.py")
        return 1 if different else 0
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - files.keys():
        (FOLDER / name).unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
