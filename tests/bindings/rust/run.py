#!/usr/bin/env python3
"""The Rust binding: held against the headers, built by each compiler that is here, and run.

  tests/bindings/rust/run.py       build folder: $BH_BUILD_DIR, else build/release

Ends with "N passed, N failed, N skipped"; the exit code is 0 when nothing failed."""
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mirrors  # noqa: E402
import place  # noqa: E402

counts = {"passed": 0, "failed": 0, "skipped": 0}
prefix = ""


def check(what, good, seen=""):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok    ' if good else 'FAILED'} {prefix}{what}" + ("" if good else f"\n{seen}"), flush=True)
    return bool(good)


def skip(what, why):
    counts["skipped"] += 1
    print(f"BH_SKIPPED {what}: {why}", flush=True)


def tests_of(what, done, least):
    """Counts the tests that libtest or rustdoc reports, each as one."""
    found = re.findall(r"^test (.+?) \.\.\. (ok|FAILED)", done.stdout, re.MULTILINE)
    for name, how in found:
        check(f"{what}: {name}", how == "ok", done.stdout)
    # A program that crashes or hangs says nothing of its tests.
    if done.returncode != 0 and not any(how == "FAILED" for _, how in found):
        check(f"{what} ends well", False, done.stdout)
    check(f"{what}: {least} tests or more", len(found) >= least, done.stdout)


def crate(tools):
    tests_of("documentation", tools.cargo(["test", "--offline", "--locked", "--doc"], "sdk/rust"), 3)
    tests_of("inside", tools.cargo(["test", "--offline", "--locked", "--lib"], "sdk/rust"), 7)
    done = tools.cargo(["doc", "--offline", "--locked", "--no-deps"], "sdk/rust")
    check("cargo doc has nothing to say", done.returncode == 0 and "warning" not in done.stdout,
          done.stdout)
    for name, least in (("json", 10), ("calls", 17), ("serve", 12), ("threads", 8), ("flight", 3)):
        tests_of(name, tools.cargo(["test", "--offline", "--locked", "--test", name],
                                   "tests/bindings/rust"), least)


def embed(tools):
    built = tools.cargo(["build", "--offline", "--locked"], "samples/embed_rust")
    if not check("embed_rust builds without a warning", built.returncode == 0, built.stdout):
        return
    folder = place.folder(tools, "embed")
    work = os.path.join(folder, "work")
    os.makedirs(work, exist_ok=True)
    config = {"version": 1, "data_root": os.path.join(folder, "data"),
              "plugins": {"path": [os.path.join(place.BUILD, "plugins")], "environment": False,
                          "user": False, "relative": False, "system": False}}
    program = os.path.join(tools.target, "debug", "embed_rust")
    done = place.run([program, json.dumps(config), work], 120, folder, tools.environment())
    check("embed_rust prints what every embedding sample prints",
          done.returncode == 0 and done.stdout == place.read("samples/embed_output.txt"), done.stdout)
    for argv in ([program], [program, "{", work], [program, json.dumps(config), work + "/none"]):
        done = place.run(argv, 120, folder, tools.environment())
        check("embed_rust says what is wrong: " + done.stdout.strip()[:60],
              done.returncode == 1 and done.stdout.count("\n") == 1 and "panicked" not in done.stdout,
              done.stdout)


def plugin(tools):
    done = tools.cargo(["test", "--offline", "--locked"], "samples/plugin_rust")
    tests_of("plugin_rust", done, 10)
    # Built as its README says, in a copy with the same neighbours: the tree stays as it is.
    copy = os.path.join(place.STAGE, tools.name, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    for part in ("samples/plugin_rust", "sdk/rust/src"):
        shutil.copytree(os.path.join(place.TOP, part), os.path.join(copy, part))
    where = os.path.join(copy, "samples", "plugin_rust")
    blocks = re.findall(r"^```sh\n(.*?)^```", place.read("samples/plugin_rust/README.md"), re.M | re.S)
    env = tools.environment()
    del env["CARGO_TARGET_DIR"]
    built = place.run(["bash", "-euc", blocks[0]], 600, where, env)
    library = os.path.join(where, "plugins", "words", "words.so")
    if not check("plugin_rust is built by its README", built.returncode == 0 and
                 os.path.exists(library), built.stdout):
        return
    symbols = place.run(["nm", "-D", "--defined-only", library], 60, where, env).stdout
    check("it exports the entry and nothing else",
          [line.split()[-1] for line in symbols.splitlines()] == ["bh_plugin_entry_v1"], symbols)
    shown = place.run(["bash", "-euc", blocks[1]], 120, where, env)
    check("its README's calls work", shown.returncode == 0 and all(
        word in shown.stdout for word in ("available", "2 words", "1\t# A plugin in Rust",
                                          "ended by code")), shown.stdout)
    env["BH_PLUGIN_PATH"] = os.path.join(where, "plugins")
    listed = place.run([place.PROGRAM, "tools"], 60, where, env).stdout
    check("`bulkhead tools` lists its tools",
          all(re.search(rf"^{name} ", listed, re.M) for name in ("word_count", "line_numbers",
                                                                 "output_lines")), listed)
    refused = place.run([place.PROGRAM, "call", "word_count", '{"text": 1}'], 60, where, env)
    check("wrong arguments never reach it", refused.returncode != 0 and "text" in refused.stdout,
          refused.stdout)
    done = tools.cargo(["test", "--offline", "--locked", "--test", "plugin"], "tests/bindings/rust",
                       BH_WORDS=env["BH_PLUGIN_PATH"])
    tests_of("plugin", done, 4)


def tree():
    """What lies in the folders that cargo works in."""
    out = {}
    for part in ("sdk/rust", "samples/embed_rust", "samples/plugin_rust", "tests/bindings/rust"):
        for folder, _, names in os.walk(os.path.join(place.TOP, part)):
            for name in names:
                path = os.path.join(folder, name)
                out[path] = os.stat(path).st_mtime_ns
    return out


def main():
    global prefix
    if not os.path.exists(os.path.join(place.LIBRARY, "libbulkhead.so")):
        print(f"FAILED there is no libbulkhead.so in {place.LIBRARY}; build it first\n"
              "0 passed, 1 failed, 0 skipped")
        return 1
    os.makedirs(place.STAGE, exist_ok=True)
    before = tree()
    mirrors.functions(check)
    mirrors.constants(check)
    structs = mirrors.fields(check)
    debian, newest = place.compilers()
    if newest is None:
        skip("the newest Rust", "PATH has no other rustc than Debian's")
    for tools in (debian, newest):
        why = tools.missing() if tools else ""
        if why:
            skip(f"Rust ({tools.name})", why)
        if why or not tools:
            continue
        prefix = f"{tools.version()}: "
        mirrors.layout(check, tools, structs)
        crate(tools)
        embed(tools)
        plugin(tools)
    prefix = ""
    check("nothing was written into the source tree", tree() == before,
          set(tree().items()) ^ set(before.items()))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
