#!/usr/bin/env python3
"""Builds and tests the Go package (sdk/go) and its sample with each Go that is there: the header's
functions and constants are all in it, the sample prints what every embedding sample prints, and
the tests beside this file hold under cgo's pointer checks and under the race detector.

BH_BUILD_DIR names the build folder (default build/release); all that is written lies below it."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
BUILD = os.path.abspath(os.environ.get("BH_BUILD_DIR", os.path.join(TOP, "build", "release")))
STAGE = os.path.join(BUILD, "bindings", "go")
SDK = os.path.join(TOP, "sdk", "go")
SAMPLE = os.path.join(TOP, "samples", "embed_go")
OLDEST = (1, 19)  # go.mod's
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good, seen=""):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok    ' if good else 'FAILED'} {what}" + ("" if good else f"\n{seen}"), flush=True)
    return good


def skip(what, why):
    counts["skipped"] += 1
    print(f"BH_SKIPPED {what}: {why}", flush=True)


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as stream:
        return stream.read()


def environment(**more):
    """Nothing comes from the network or from the user's Go, and nothing is written beside the sources."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("BH_", "XDG_", "GO", "CGO_", "PKG_CONFIG"))}
    folders = {"GOCACHE": "cache", "GOPATH": "path", "XDG_CONFIG_HOME": "config",
               "XDG_DATA_HOME": "data", "BH_GO_SCRATCH": "scratch"}
    for name, folder in folders.items():
        kept[name] = os.path.join(STAGE, folder)
    library = os.path.join(BUILD, "lib")
    kept.update(GOFLAGS="-mod=mod", GOPROXY="off", GOTOOLCHAIN="local", GOWORK="off", GOENV="off",
                BH_GO_SOURCE=SDK, PKG_CONFIG_PATH=os.path.join(STAGE, "pkgconfig"),
                LD_LIBRARY_PATH=":".join(filter(None, [library, os.environ.get("LD_LIBRARY_PATH")])))
    kept.update(more)
    return kept


def run(argv, cwd=STAGE, limit=400, **more):
    try:
        return subprocess.run(argv, cwd=cwd, env=environment(**more), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=limit, check=False)
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        return subprocess.CompletedProcess(argv, 124, said + f"\nstill running after {limit} s")


def package_file():
    """As the installed one, for a tree that is built and not installed."""
    folder = os.path.join(STAGE, "pkgconfig")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "bulkhead.pc"), "w", encoding="utf-8") as stream:
        stream.write(f"Name: bulkhead\nDescription: as built\nVersion: 0\n"
                     f"Libs: -L{BUILD}/lib -lbulkhead\n"
                     f"Cflags: -I{TOP}/host/include -I{TOP}/abi/include\n")


def toolchains():
    """(version, program) of each Go, the oldest first: that of the distribution, and PATH's."""
    found = {}
    for program in ("/usr/bin/go", f"/usr/lib/go-{OLDEST[0]}.{OLDEST[1]}/bin/go", shutil.which("go")):
        if program is None or not os.access(program, os.X_OK):
            continue
        said = run([program, "env", "GOVERSION"]).stdout
        number = re.match(r"go(\d+)\.(\d+)", said)
        if number:
            found.setdefault(tuple(int(part) for part in number.groups()), program)
    return sorted(found.items())


def mirrors():
    """cgo compares types when it compiles; what it cannot see is a function or constant left out."""
    header = re.sub(r"/\*.*?\*/", "", read(TOP, "host", "include", "bulkhead", "host.h"), flags=re.S)
    base = re.sub(r"/\*.*?\*/", "", read(TOP, "abi", "include", "bulkhead", "base.h"), flags=re.S)
    functions = set(re.findall(r"BH_API[^;(]*?\b(bh_\w+)\(", header))
    constants = {name for name in re.findall(r"#define (BH_\w+)\s+(?:0x)?\d", header + base)}
    types = set(re.findall(r"typedef struct bh_\w+ (bh_\w+);", header))
    sources = "".join(read(SDK, name) for name in sorted(os.listdir(SDK)) if name.endswith(".go"))
    bridge = re.sub(r"/\*.*?\*/", "", read(SDK, "bridge.h"), flags=re.S)
    bridged = set(re.findall(r"\b(bh_\w+)\(", bridge))
    used = set(re.findall(r"\bC\.(\w+)", sources))
    check(f"each of host.h's {len(functions)} functions is called",
          len(functions) > 40 and not functions - used - bridged, sorted(functions - used - bridged))
    check(f"each of the headers' {len(constants)} constants is taken from them",
          len(constants) > 30 and not constants - used, sorted(constants - used))
    check(f"each of host.h's {len(types)} handles is known",
          len(types) > 8 and not types - used - set(re.findall(r"\b(bh_\w+) \*", bridge)),
          sorted(types - used))
    check("a fault is read after the call that sets it, not beside it", "taken(C." not in sources)
    check("no function that C could call is exported", "//export" not in sources)


def checked_output(name, go, folder):
    """Formatting and vet: both say nothing where all is well."""
    gofmt = os.path.join(os.path.dirname(os.path.realpath(go)), "gofmt")
    if os.access(gofmt, os.X_OK):
        done = run([gofmt, "-l", folder])
        check(f"{name}: gofmt has nothing to say about {os.path.relpath(folder, TOP)}",
              done.returncode == 0 and not done.stdout, done.stdout)
    done = run([go, "vet", "./..."], cwd=folder)
    check(f"{name}: go vet has nothing to say about {os.path.relpath(folder, TOP)}",
          done.returncode == 0 and not done.stdout, done.stdout)


def sample(name, go):
    program = os.path.join(STAGE, f"embed_go-{name}")
    done = run([go, "build", "-o", program, "."], cwd=SAMPLE)
    if not check(f"{name}: samples/embed_go builds", done.returncode == 0, done.stdout):
        return
    home = os.path.join(STAGE, f"sample-{name}")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(os.path.join(home, "workspace"))
    config = '{"version":1,"data_root":"%s/data"}' % home
    done = run([program, config, os.path.join(home, "workspace")], limit=120)
    check(f"{name}: samples/embed_go prints samples/embed_output.txt", done.returncode == 0 and
          done.stdout == read(TOP, "samples", "embed_output.txt"), done.stdout)
    done = run([program, '{"version":1,"colour":"blue"}', home], limit=120)
    check(f"{name}: samples/embed_go says what is wrong", done.returncode == 1 and
          "colour" in done.stdout, done.stdout)
    done = run([program], limit=120)
    check(f"{name}: samples/embed_go says how it is used", done.returncode == 1 and
          "CONFIG WORKSPACE" in done.stdout, done.stdout)


def readme(name, go):
    """The README's program, as it stands there."""
    blocks = re.findall(r"^```go\n(.*?)^```", read(SDK, "README.md"), re.M | re.S)
    folder = os.path.join(STAGE, "readme")
    os.makedirs(folder, exist_ok=True)
    for file, text in (("main.go", "".join(blocks)), ("go.mod", f"module readme\n\ngo 1.19\n\nrequire "
                       f"bulkhead v0.0.0\n\nreplace bulkhead => {SDK}\n")):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
            stream.write(text)
    workspace = os.path.join(STAGE, "scratch", "readme")
    os.makedirs(workspace, exist_ok=True)
    done = run([go, "build", "-o", "readme", "."], cwd=folder)
    if check(f"{name}: the README's program builds", len(blocks) == 1 and done.returncode == 0, done.stdout):
        done = run([os.path.join(folder, "readme")], cwd=workspace, limit=120)
        check(f"{name}: it runs", done.stdout == "FROM A READER\nhello, gopher\n", done.stdout)


def inside():
    """The package with the tests that need to be in it: the sources have none beside them."""
    folder = os.path.join(STAGE, "inside")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SDK, folder)
    shutil.copytree(os.path.join(HERE, "testdata", "inside"), folder, dirs_exist_ok=True)
    return folder


def tests(name, go, way, flags, build_env, run_env, folder=HERE, least=30):
    program = os.path.join(STAGE, f"bindings-{name}-{way.replace(' ', '-')}")
    done = run([go, "test", "-c", *flags, "-o", program, "."], cwd=folder, **build_env)
    if not check(f"{name}, {way}: the tests build", done.returncode == 0, done.stdout):
        return
    scratch = os.path.join(STAGE, "scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    done = run([program, "-test.v", "-test.timeout=300s"], cwd=scratch, **run_env)
    said, seen = done.stdout, 0
    for outcome, test in re.findall(r"^--- (PASS|FAIL|SKIP): (\w+)", said, re.M):
        if outcome == "SKIP":
            skip(f"{name}, {way}: {test}", "it says so itself")
            continue
        seen += 1
        check(f"{name}, {way}: {test}", outcome == "PASS", about(said, test))
    for line in re.findall(r"^    \w+\.go:\d+: (\d+ (?:calls|goroutines).*)", said, re.M):
        print(f"       {line}")
    check(f"{name}, {way}: the program ends well", done.returncode == 0 and seen >= least and
          "DATA RACE" not in said, f"exit {done.returncode}\n{said[-8000:]}")


def about(said, test):
    lines = said[said.find(f"=== RUN   {test}\n"):]
    return lines[:lines.find("\n=== RUN", 10)][-6000:]


def main():
    if not os.path.exists(os.path.join(BUILD, "lib", "libbulkhead.so")):
        print(f"{BUILD}/lib/libbulkhead.so is not built\n0 passed, 1 failed, 0 skipped")
        return 1
    os.makedirs(os.path.join(STAGE, "scratch"), exist_ok=True)
    package_file()
    mirrors()
    found = toolchains()
    if not found or found[0][0] > OLDEST:
        skip(f"Go {OLDEST[0]}.{OLDEST[1]}", "it is not there (golang-go of Debian 12)")
    if not found or found[-1][0] <= OLDEST:
        skip("a newer Go", "there is none in PATH")
    for version, go in found:
        name = f"go{version[0]}.{version[1]}"
        if version < OLDEST:
            skip(name, f"the package needs {OLDEST[0]}.{OLDEST[1]}")
            continue
        for folder in (SDK, SAMPLE, HERE):
            checked_output(name, go, folder)
        sample(name, go)
        readme(name, go)
        if version >= (1, 21):
            tests(name, go, "pointer checks", [], {"GOEXPERIMENT": "cgocheck2"}, {})
        else:
            tests(name, go, "pointer checks", [], {}, {"GODEBUG": "cgocheck=2"})
        tests(name, go, "race detector", ["-race"], {}, {"GORACE": "halt_on_error=1"})
        tests(name, go, "inside", ["-race"], {}, {"GORACE": "halt_on_error=1"}, inside(), 5)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


sys.exit(main())
