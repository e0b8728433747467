#!/usr/bin/env python3
"""manifests.py SCHEMAS_DIR BUILD_DIR

Every plugin.json that the build wrote satisfies plugin_manifest.json, and the capabilities in it the
schema of their kind: the schemas describe what is there. Tried first on manifests that must fail.
"""
import copy
import json
import re
import sys
from pathlib import Path

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and
                                           (name == "number" or value.is_integer()))
        return whole and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def complaints(schema, value, where=""):
    """What is wrong with `value`, for the keywords that our schemas use."""
    if schema is True:
        return
    if schema is False:
        yield f"{where}: is not allowed"
        return
    names = schema.get("type", [])
    names = names if isinstance(names, list) else [names]
    if names and not any(is_type(value, name) for name in names):
        yield f"{where}: is not of type {names}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if is_type(value, "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value) \
                or value <= schema.get("exclusiveMinimum", value - 1):
            yield f"{where}: {value} is out of its range"
    if isinstance(value, (str, list)):
        least, most = ("minLength", "maxLength") if isinstance(value, str) else ("minItems",
                                                                                 "maxItems")
        if not schema.get(least, 0) <= len(value) <= schema.get(most, len(value)):
            yield f"{where}: has the length {len(value)}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, list):
        for at, part in enumerate(value):
            yield from complaints(schema.get("items", True), part, f"{where}/{at}")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}/{key}: is missing"
        for key, part in value.items():
            known = schema.get("properties", {})
            yield from complaints(known.get(key, schema.get("additionalProperties", True)), part,
                                  f"{where}/{key}")


def check(schemas, manifest):
    yield from complaints(schemas["plugin_manifest"], manifest)
    for row in manifest.get("provides", []):
        kind = re.fullmatch(r"bh\.(\w+)/1", row.get("interface", ""))
        schema = schemas.get(f"capabilities.{kind.group(1)}") if kind else None
        if schema is not None:
            yield from complaints(schema, row.get("capabilities", {}), "capabilities")


def self_test(schemas):
    good = {"manifest_version": 1, "id": "org.example.a", "name": "A", "version": "1",
            "vendor": "E", "license": "MIT", "abi": {"major": 1, "min_minor": 0},
            "provides": [{"interface": "bh.isolation/1", "id": "a",
                          "capabilities": {"network": ["off"]}}],
            "library": {"linux-x86_64": "a.so"}, "sha256": {"linux-x86_64": "0" * 64}}
    yield from (f"self-test: a good one: {text}" for text in check(schemas, good))
    for path, bad in ((["id"], "noDots"), (["manifest_version"], 2), (["name"], ""),
                      (["extra"], 1), (["abi", "major"], 0), (["abi", "major"], True),
                      (["provides"], []), (["provides", 0, "id"], "A b"),
                      (["provides", 0, "interface"], "bh.isolation"),
                      (["provides", 0, "capabilities", "network"], ["proxy"]),
                      (["library", "linux-x86_64"], ""), (["sha256", "linux-x86_64"], "xyz")):
        tampered = copy.deepcopy(good)
        at = tampered
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = bad
        if not list(check(schemas, tampered)):
            yield f"self-test: {bad!r} at {path} passes"
    for key in schemas["plugin_manifest"]["required"]:
        if not list(check(schemas, {k: v for k, v in good.items() if k != key})):
            yield f"self-test: a manifest without {key} passes"


def main():
    folder, build = Path(sys.argv[1]), Path(sys.argv[2])
    schemas = {path.name[:-5]: json.loads(path.read_text()) for path in folder.glob("*.json")}
    found = list(self_test(schemas))
    paths = sorted(p for place in ("plugins", "samples/plugins", "tests/abi_plugins")
                   for p in (build / place).glob("*/plugin.json"))
    for path in paths:
        found += [f"{path}: {text}" for text in check(schemas, json.loads(path.read_text()))]
    if not paths:
        print("BH_SKIPPED abi_manifests: no plugin is built")
    for line in found:
        print(f"manifests: {line}")
    print(f"manifests: {len(paths)} manifests, {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
