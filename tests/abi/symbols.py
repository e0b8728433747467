#!/usr/bin/env python3
"""symbols.py --include DIR... --golden FILE --library LIB --plugins DIR...

What a library exports is what its header declares and what its golden lists, nothing more and nothing
less (LIB is libbulkhead; libbulkhead_mcp lies beside it, its golden beside the golden); each plugin
exports its entry alone. What is not built is skipped with a line that the runner
counts. A new function is a new line in the golden; a line never goes away after 1.0.
"""
import argparse
import subprocess
import sys
from pathlib import Path

from header_model import headers_in, parse

ENTRY = "bh_plugin_entry_v1"


def exported(path):
    output = subprocess.run(["nm", "-D", "--defined-only", str(path)], check=True,
                            capture_output=True, text=True).stdout
    names = set()
    for line in output.splitlines():
        _, kind, name = line.split()[-3:]
        if kind != "A":  # the version node itself
            names.add(name.split("@")[0])
    return names


def differences(what, has, where, due):
    for name in sorted(has - due):
        yield f"{what} has {name}, {where} does not"
    for name in sorted(due - has):
        yield f"{where} has {name}, {what} does not"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--plugins", action="append", required=True)
    args = parser.parse_args()
    found, functions = [], 0
    for header, library in (("host.h", "libbulkhead.so"), ("mcp.h", "libbulkhead_mcp.so")):
        path = [path for path in headers_in(args.include) if path.name == header][0]
        declared = {function.name for function in parse(path).functions}
        golden_file = Path(args.golden).with_name(f"symbols_{Path(library).stem}.txt")
        golden = {line for line in golden_file.read_text().split("\n") if line and not line.startswith("#")}
        functions += len(golden)
        found += differences(header, declared, "the golden", golden)
        built = Path(args.library).with_name(library)
        if built.exists():
            found += differences(library, exported(built), "the golden", golden)
        else:
            print(f"BH_SKIPPED abi_symbols: {built} is not built")
    plugins = [p for folder in args.plugins for p in sorted(Path(folder).glob("*/*.so"))]
    for plugin in plugins:
        found += differences(plugin.name, exported(plugin), "a plugin", {ENTRY})
    if not plugins:
        print("BH_SKIPPED abi_symbols: no plugin is built")
    for line in found:
        print(f"symbols: {line}")
    print(f"symbols: {functions} functions, {len(plugins)} plugins, {len(found)} complaints")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
