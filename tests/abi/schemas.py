#!/usr/bin/env python3
"""schemas.py SCHEMAS_DIR INCLUDE_DIR...

The JSON Schemas of abi/schemas: they parse, without a key twice, use only the keywords that the host
enforces, describe themselves, have patterns that compile, and every schema that a header names is
there, as every schema here is named by a header or by another document of abi/.
"""
import json
import re
import sys
from pathlib import Path

KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum", "const",
            "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems",
            "maxItems", "pattern", "description", "title", "$schema"}
TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}


def no_duplicates(pairs):
    seen = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"the key {key!r} is there twice")
        seen[key] = value
    return seen


def walk(schema, where):
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{where}: a schema is an object, not {schema!r}"
        return
    for keyword in schema:
        if keyword not in KEYWORDS:
            yield f"{where}: the keyword {keyword} is not enforced"
    types = schema.get("type", [])
    for name in types if isinstance(types, list) else [types]:
        if name not in TYPES:
            yield f"{where}: unknown type {name!r}"
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            yield f"{where}: requires {name}, which it does not describe"
    if "pattern" in schema:
        try:
            re.compile(schema["pattern"])
        except re.error as error:
            yield f"{where}: pattern: {error}"
    for name, part in schema.get("properties", {}).items():
        yield from walk(part, f"{where}/{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from walk(schema[keyword], f"{where}/{keyword}")


def named_schemas(text):
    """abi/schemas/x.json, abi/schemas/{x,y}.json, abi/schemas/x.*.json"""
    for name in re.findall(r"schemas/([\w.{},*]*\.json)", text):
        group = re.match(r"\{([\w,]+)\}\.json", name)
        yield from (f"{part}.json" for part in group.group(1).split(",")) if group else [name]


def main():
    folder, includes = Path(sys.argv[1]), sys.argv[2:]
    complaints, paths = [], sorted(folder.glob("*.json"))
    for path in paths:
        try:
            schema = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=no_duplicates)
        except ValueError as error:
            complaints.append(f"{path.name}: {error}")
            continue
        complaints += walk(schema, path.name)
        for key in ("$schema", "title", "description"):
            if not schema.get(key):
                complaints.append(f"{path.name}: no {key}")
    texts = [p.read_text(encoding="utf-8") for i in includes for p in Path(i).glob("bulkhead/*.h")]
    texts.append((folder.parent / "README.md").read_text(encoding="utf-8"))
    named = {name for text in texts for name in named_schemas(text)}
    for name in sorted(named):
        if not list(folder.glob(name)):
            complaints.append(f"{name} is named in a header or the README and is not here")
    for path in paths:
        if not any(path.match(name) for name in named):
            complaints.append(f"{path.name}: no header and not the README names it")
    for line in complaints:
        print(f"schemas: {line}")
    print(f"schemas: {len(paths)} schemas, {len(complaints)} complaints")
    sys.exit(1 if complaints or not paths else 0)


if __name__ == "__main__":
    main()
