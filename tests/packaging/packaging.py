#!/usr/bin/env python3
"""Installs Bulkhead, moves the installation, and uses it as a packager and third parties do."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
for name in ("source", "build", "cc", "cxx", "build-type"):
    parser.add_argument("--" + name, required=True)
args = parser.parse_args()

HERE = os.path.dirname(os.path.abspath(__file__))
STAGE = os.path.join(args.build, "packaging")
PREFIX = os.path.join(STAGE, "moved")
counts = {"passed": 0, "failed": 0}


def check(what, good, why=""):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAILED'}: {what}")
    if not good and why:
        print("    " + str(why).strip().replace("\n", "\n    ")[-4000:])
    return good


def run(argv, env=None, stdin=b"", cwd=STAGE):
    try:
        return subprocess.run(argv, env=env, input=stdin, cwd=cwd, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=800)
    except OSError as error:
        return subprocess.CompletedProcess(argv, 127, b"", str(error).encode())


def step(what, argv, env=None, stdin=b""):
    """Runs it, which has to succeed; gives its stdout."""
    done = run(argv, env, stdin)
    check(what, done.returncode == 0,
          f"exit {done.returncode}\n{done.stdout.decode(errors='replace')}"
          f"{done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def user_env(**more):
    """A user with an empty HOME, so that nothing of this machine's is found."""
    home = os.path.join(STAGE, "home")
    os.makedirs(home, exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8"}
    env.update(more)
    return env


def build(name, source, *options, warnings="-Wall -Wextra -Werror"):
    """Configures and builds a project of its own against the installation."""
    folder = os.path.join(STAGE, name)
    argv = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_C_COMPILER={args.cc}",
            f"-DCMAKE_CXX_COMPILER={args.cxx}", f"-DCMAKE_BUILD_TYPE={args.build_type}",
            f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_C_FLAGS={warnings}",
            f"-DCMAKE_CXX_FLAGS={warnings}", *options]
    done = run(argv)
    if check(f"{name}: configures", done.returncode == 0, (done.stdout + done.stderr).decode()):
        done = run(["cmake", "--build", folder])
        check(f"{name}: builds", done.returncode == 0, (done.stdout + done.stderr).decode())
    return folder


def found(pattern):
    """The one file of the installation that matches, relative to the prefix."""
    names = [os.path.relpath(os.path.join(folder, name), PREFIX)
             for folder, _, files in os.walk(PREFIX) for name in files]
    hits = [name for name in names if re.fullmatch(pattern, name)]
    check(f"installed: {pattern}", len(hits) == 1, hits)
    return os.path.join(PREFIX, hits[0]) if hits else PREFIX


def installation():
    shutil.rmtree(STAGE, ignore_errors=True)
    os.makedirs(STAGE)
    first = os.path.join(STAGE, "prefix")
    step("cmake --install", ["cmake", "--install", args.build, "--prefix", first])
    if counts["failed"]:
        return False
    os.rename(first, PREFIX)  # it may be moved
    for pattern in (r"bin/bulkhead", r"bin/bulkhead-contract", r"libexec/bulkhead/bulkhead-contract-probe",
                    r"include/bulkhead/sdk/contract\.hpp", r"lib[^/]*(/[^/]+)?/libbulkhead\.so",
                    r"lib[^/]*(/[^/]+)?/libbulkhead_mcp\.so", r"include/bulkhead/mcp\.h",
                    r"share/bulkhead/python/bulkhead/__init__\.py",
                    r"share/bulkhead/rust/Cargo\.toml", r"share/bulkhead/go/go\.mod",
                    r"include/bulkhead/plugin\.h", r"include/bulkhead/host\.h",
                    r"include/bulkhead/host\.hpp", r"include/bulkhead/sdk\.hpp",
                    r"include/bulkhead/sdk/testing/fake_host\.hpp",
                    r"share/bulkhead/schemas/tool\.json",
                    r"lib.*/cmake/bulkhead/bulkheadConfig\.cmake", r"lib.*/pkgconfig/bulkhead\.pc",
                    r"lib.*/pkgconfig/bulkhead-abi\.pc",
                    r"lib.*/bulkhead/plugins/toolset_files/toolset_files\.so",
                    r"lib.*/bulkhead/plugins/toolset_files/plugin\.json",
                    r"lib.*/bulkhead/plugins/toolset_sandbox/toolset_sandbox\.so",
                    r"lib.*/bulkhead/plugins/toolset_sandbox/plugin\.json",
                    r"lib.*/bulkhead/plugins/filestore_dir/filestore_dir\.so",
                    r"lib.*/bulkhead/plugins/filestore_dir/plugin\.json"):
        found(pattern)

    named = []
    for folder, _, files in os.walk(PREFIX):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith((".h", ".hpp", ".cmake", ".pc", ".json")):
                with open(path, encoding="utf-8") as stream:
                    text = stream.read()
                named += [path for place in (args.build, args.source) if place in text]
    check("no installed text names the build tree", not named, named)
    for pattern in (r"bin/bulkhead", r"lib[^/]*(/[^/]+)?/libbulkhead\.so"):
        dynamic = run(["readelf", "-d", found(pattern)]).stdout.decode()
        check(f"{pattern}: no run path into the build tree", args.build not in dynamic, dynamic)
    return True


def sample():
    """samples/plugin_c out of tree: found by path, then beside the library."""
    program = os.path.join(PREFIX, "bin", "bulkhead")
    folder = build("sample", os.path.join(args.source, "samples", "plugin_c"))
    env = user_env(BH_PLUGIN_PATH=os.path.join(folder, "plugins"))
    check("tools: echo by BH_PLUGIN_PATH",
          re.search(r"\becho\b", step("bulkhead tools", [program, "tools"], env)))
    said = step("bulkhead call echo", [program, "call", "echo", '{"text": "hello \\u00e9"}'], env)
    check("echo: the text comes back", "hello é" in said, said)
    said = step("bulkhead call echo, leniently", [program, "call", "echo", '{"message": 5}'], env)
    check("echo: what accepts_schema allows", "5" in said, said)
    refused = run([program, "call", "echo", '{"txt": "x"}'], env)
    check("echo: an unknown argument is refused by name",
          refused.returncode == 125 and b"txt" in refused.stderr, refused)
    said = step("bulkhead call upper", [program, "call", "upper", "--input", "-"], env, b"stream me\n" * 1000)
    check("upper: the stream comes back", said == "STREAM ME\n" * 1000, said[-200:])

    none = run([program, "call", "echo", '{"text": "x"}'], user_env())
    check("without the path there is no echo", none.returncode != 0, none)
    step("install the sample into the prefix", ["cmake", "--install", folder, "--prefix", PREFIX])
    said = step("echo beside the library", [program, "call", "echo", '{"text": "at home"}'],
                user_env())
    check("echo: found relative to the library", "at home" in said, said)


def plugin_in_cpp():
    program = os.path.join(PREFIX, "bin", "bulkhead")
    folder = build("plugin_cpp", os.path.join(HERE, "plugin_cpp"))
    env = user_env(BH_PLUGIN_PATH=os.path.join(folder, "plugins"))
    said = step("bulkhead call sum", [program, "call", "sum", '{"numbers": [1, 2, 3.5, 0.5]}'], env)
    check("sum: a C++ plugin with JSON", "the sum is 7" in said, said)
    library = os.path.join(folder, "plugins", "sum", "sum.so")
    exported = run(["nm", "-D", "--defined-only", library]).stdout.decode().split("\n")
    names = [line.split()[-1] for line in exported if line]
    check("sum: exports its entry alone", names == ["bh_plugin_entry_v1"], names)


def isolation_in_cpp():
    """samples/plugin_isolation out of tree, and the contract suite on it as a third party runs it."""
    source = os.path.join(args.source, "samples", "plugin_isolation")
    lines = [line for name in os.listdir(source) if name.endswith((".cc", ".h"))
             for line in open(os.path.join(source, name), encoding="utf-8") if line.strip()]
    check("fence: fewer than 150 lines", 0 < len(lines) < 150, len(lines))
    folder = build("plugin_isolation", source)
    suite = os.path.join(PREFIX, "bin", "bulkhead-contract")
    said = step("bulkhead-contract --list", [suite, "--list"], user_env())
    check("the list has its parts", all(f"\n{part}." in said for part in ("life", "exec", "manners")), said)
    done = run(["ctest", "--test-dir", folder, "--output-on-failure"], user_env())
    said = done.stdout.decode(errors="replace")
    if "this kernel has no Landlock" in said:
        print("BH_SKIPPED plugin_isolation: this kernel has no Landlock")
    else:
        check("fence: passes the contract suite", done.returncode == 0, said)
    missing = run([suite, os.path.join(STAGE, "nothing")], user_env())
    check("no plugin: 2, and a word", missing.returncode == 2 and b"nothing" in missing.stderr, missing)


def embedder(what, program, env=None):
    said = step(f"{what}: runs", [program], env or user_env())
    version, _, result = said.partition(" ")
    try:
        good = json.loads(result)["version"] == version
    except (ValueError, KeyError):
        good = False
    check(f"{what}: host.inspect answers", good, said)


def embed_samples():
    """samples/embed_c and embed_cpp against the installation, and the Python package out of it."""
    with open(os.path.join(args.source, "samples", "embed_output.txt"), encoding="utf-8") as stream:
        golden = stream.read()
    workspace = os.path.join(STAGE, "workspace")
    os.makedirs(workspace, exist_ok=True)
    python = os.path.join(PREFIX, "share", "bulkhead", "python")
    commands = {name: [os.path.join(build(name, os.path.join(args.source, "samples", name)), name)]
                for name in ("embed_c", "embed_cpp")}
    commands["embed_python"] = [sys.executable, os.path.join(args.source, "samples/embed_python/embed.py")]
    for name, command in commands.items():
        config = f'{{"version":1,"data_root":"{STAGE}/{name}-data"}}'
        env = user_env(PYTHONPATH=python, PYTHONDONTWRITEBYTECODE="1")
        said = step(f"{name}: runs", command + [config, workspace], env)
        check(f"{name}: prints what all of them print", said == golden, said)


def embedders():
    source = os.path.join(HERE, "embed_c")
    embedder("find_package", os.path.join(build("embed_package", source), "embed_c"))
    pc_dir = os.path.dirname(found(r"lib.*/pkgconfig/bulkhead\.pc"))
    env = dict(user_env(), PKG_CONFIG_PATH=pc_dir)
    flags = step("pkg-config bulkhead", ["pkg-config", "--cflags", "--libs", "bulkhead"], env).split()
    plugins = step("pkg-config plugindir", ["pkg-config", "--variable=plugindir", "bulkhead-abi"], env)
    check("pkg-config: plugindir is where plugins are",
          os.path.isfile(os.path.join(plugins.strip(), "toolset_sandbox", "plugin.json")), plugins)
    program = os.path.join(STAGE, "embed_pc")
    step("pkg-config: builds", [args.cc, "-std=c99", "-Wall", "-Wextra", "-Werror",
                                os.path.join(source, "main.c"), *flags, "-o", program])
    libraries = os.path.dirname(os.path.realpath(found(r"lib[^/]*(/[^/]+)?/libbulkhead\.so")))
    embedder("pkg-config", program, user_env(LD_LIBRARY_PATH=libraries))
    abi = step("pkg-config bulkhead-abi", ["pkg-config", "--cflags", "bulkhead-abi"], env).split()
    step("the ABI's headers alone", [args.cc, "-std=c99", *abi, "-fsyntax-only", "-Wall", "-Werror",
                                     os.path.join(args.source, "samples", "plugin_c", "member.c")])
    # It compiles the library once more; what is tried is that it can be, so without optimising.
    folder = build("embed_subfolder", source, f"-DBULKHEAD_SOURCE={args.source}",
                   "-DCMAKE_BUILD_TYPE=", warnings="")
    embedder("add_subdirectory", os.path.join(folder, "embed_c"))


if installation():
    sample()
    plugin_in_cpp()
    isolation_in_cpp()
    embedders()
    embed_samples()
print(f"{counts['passed']} passed, {counts['failed']} failed, 0 skipped")
sys.exit(1 if counts["failed"] else 0)
