"""The flavours: which preset, what is built of it, which programs run and under which settings."""
import glob
import json
import os
import re
import subprocess
import time

from program import run
from report import add_catch, add_script

# The rooms whose threads talk to each other: what ThreadSanitizer is for.
TSAN_ROOMS = ["core", "loader"]
PROGRAM_LIMIT = 600  # seconds; a test's TIMEOUT property goes before
FUZZ_SECONDS = 10  # each target
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)
BATCH = re.compile(r"^FAILED: (\S+/Unity/unity_\S+)\.o\b", re.MULTILINE)


class Flavour:
    def __init__(self, name, slow=1, env=None, only=None):
        self.name = name
        self.slow = slow  # factor on time limits
        self.env = env or {}
        self.only = only  # names of programs, or None for all
        self.build_dir = f"build/{name}"

    def log(self, name):
        return os.path.abspath(f"{self.build_dir}/test-logs/{name}.log")


def tsan_programs():
    return [f"host_{room}_test" for room in TSAN_ROOMS if glob.glob(f"tests/host/{room}/*_test.cc")]


def flavours():
    """All of them, in the order in which they are run."""
    # Reports go to files, so that one of a grandchild whose output nobody reads is seen as well.
    asan = os.path.abspath("build/asan/test-logs/sanitizer")
    tsan = os.path.abspath("build/tsan/test-logs/sanitizer")
    return {
        "release": Flavour("release"),
        "asan": Flavour("asan", slow=3, env={
            "ASAN_OPTIONS": f"log_path={asan}:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": f"log_path={asan}:print_stacktrace=1:halt_on_error=1"}),
        "tsan": Flavour("tsan", slow=5, only=tsan_programs(), env={
            "TSAN_OPTIONS": f"log_path={tsan}:second_deadlock_stack=1"}),
        "fuzz": Flavour("fuzz"),
    }


def jobs():
    """Compilers side by side: one a core, as far as memory allows 1.5 GB each."""
    available = 0
    with open("/proc/meminfo", encoding="ascii") as stream:
        for line in stream:
            if line.startswith("MemAvailable:"):
                available = int(line.split()[1]) // 1024
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, available // 1500))


def environment(flavour):
    env = {key: value for key, value in os.environ.items() if not key.startswith("BH_")}
    env.setdefault("HOME", os.path.abspath("build/home"))
    env["LC_ALL"] = "C.UTF-8"
    # Objects are the same wherever the checkout lies.
    env["CCACHE_BASEDIR"] = os.getcwd()
    env["CCACHE_NOHASHDIR"] = "1"
    env.update(flavour.env)
    return env


def configure(flavour, report, env, *settings):
    started = time.monotonic()
    settings = settings or ["-DBH_FILE_BY_FILE="]  # not those of an earlier run
    outcome = run(["cmake", "--preset", flavour.name, "-DBH_BUILD_TESTS=ON", *settings],
                  flavour.log("configure"), 600, env=env)
    report.phase(f"{flavour.name}: configure", time.monotonic() - started)
    if outcome.why():
        report.fail(f"configure {flavour.name}", outcome.why(), outcome.tail(25))
    return not outcome.why()


def _files_of_bad_batches(flavour, outcome):
    """What the batches hold that were not compiled, from the root of the tree."""
    found = []
    for batch in BATCH.findall(outcome.text()) if outcome.code else []:
        with open(os.path.join(flavour.build_dir, batch), encoding="utf-8") as stream:
            found += [os.path.relpath(path) for path in INCLUDED.findall(stream.read())]
    return sorted(set(found))


def build(flavour, report, yielding=False):
    """Configures and builds; what fails is reported, and what was built is tested all the same."""
    targets = ["fuzzers"] if flavour.name == "fuzz" else flavour.only or ()
    env = environment(flavour)
    for key in flavour.env:
        env.pop(key)
    if not configure(flavour, report, env):
        return False
    # Sanitizers write their reports here, also those of processes that run as another user.
    os.chmod(f"{flavour.build_dir}/test-logs", 0o1777)
    # Programs that the tree no longer has are not to be run.
    subprocess.run(["ninja", "-C", flavour.build_dir, "-t", "cleandead"], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    started = time.monotonic()
    command = ["cmake", "--build", flavour.build_dir, "-j", str(jobs())]
    if targets:
        command += ["--target", *targets]
    outcome = run(command + ["--", "-k", "0"], flavour.log("build"), 3600, env=env, yielding=yielding)
    files = _files_of_bad_batches(flavour, outcome)
    if files:
        # Names of their own that two files of a batch have in common are no fault of theirs.
        print(f"{flavour.name}: {len(files)} files do not compile in a batch, so each by itself", flush=True)
        if not configure(flavour, report, env, "-DBH_FILE_BY_FILE=" + ";".join(files)):
            return False
        outcome = run(command + ["--", "-k", "0"], flavour.log("build"), 3600, env=env, yielding=yielding)
    report.phase(f"{flavour.name}: build", time.monotonic() - started)
    if outcome.why():
        errors = [line for line in outcome.text().split("\n")
                  if "error:" in line or line.startswith("FAILED:") or "undefined reference" in line]
        report.fail(f"build {flavour.name}", outcome.why(), errors[:25] or outcome.tail(25))
    else:
        print(f"{flavour.name}: built in {time.monotonic() - started:.0f} s", flush=True)
    return True


def registered(flavour):
    """Every test that CMake knows: [(name, argv, properties)]."""
    listing = subprocess.run(["ctest", "--test-dir", flavour.build_dir, "--show-only=json-v1"],
                             check=True, capture_output=True, stdin=subprocess.DEVNULL)
    found = []
    for test in json.loads(listing.stdout)["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        if "command" in test:
            found.append((test["name"], test["command"], properties))
        else:  # registered, and its program was not built
            found.append((test["name"], None, properties))
    return found


def run_programs(flavour, report, pattern):
    """Runs the flavour's programs, those that CMake has registered and those that it forgot."""
    started = time.monotonic()
    tests = registered(flavour)
    known = {os.path.realpath(argv[0]) for _, argv, _ in tests if argv}
    folder = f"{flavour.build_dir}/tests"
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.realpath(os.path.join(folder, entry))
        if entry.endswith("_test") and os.access(path, os.X_OK) and path not in known:
            tests.append((entry, [path], {}))
    for name, argv, properties in tests:
        if pattern not in name or (flavour.only is not None and name not in flavour.only):
            continue
        if flavour.name != "release" and "release" in properties.get("LABELS", []):
            continue
        if argv is None or not os.path.exists(argv[0]):
            report.fail(f"{flavour.name}/{name}", "its program was not built")
            continue
        one_program(flavour, report, name, argv, properties)
    report.phase(f"{flavour.name}: tests", time.monotonic() - started)


def one_program(flavour, report, name, argv, properties):
    env = environment(flavour)
    for setting in properties.get("ENVIRONMENT", []):
        key, _, value = setting.partition("=")
        env[key] = value
    log = flavour.log(name)
    xml = log[:-len("log")] + "xml"
    is_catch = name.endswith("_test") and len(argv) == 1 and not argv[0].endswith((".sh", ".py"))
    if is_catch:
        argv = argv + ["-r", "xml", "-o", xml, "-d", "yes"]
        if os.path.exists(xml):
            os.unlink(xml)
    forget_sanitizer_reports(flavour)
    limit = float(properties.get("TIMEOUT", PROGRAM_LIMIT)) * flavour.slow
    outcome = run(argv, log, limit, cwd=properties.get("WORKING_DIRECTORY"), env=env)
    label = f"{flavour.name}/{name}"
    if is_catch:
        summary = add_catch(report, label, outcome, xml)
    else:
        summary = add_script(report, label, outcome, properties.get("SKIP_RETURN_CODE"))
    for path, lines in sanitizer_reports(flavour):
        report.fail(label, f"a sanitizer report in {os.path.relpath(path)}", lines)
        summary += ", a sanitizer report"
    print(f"{label}: {summary} ({outcome.seconds:.1f} s)", flush=True)


def _report_files(flavour):
    folder = f"{flavour.build_dir}/test-logs"
    return [os.path.join(folder, entry) for entry in sorted(os.listdir(folder))
            if entry.startswith("sanitizer.")] if os.path.isdir(folder) else []


def forget_sanitizer_reports(flavour):
    for path in _report_files(flavour):
        os.unlink(path)


def sanitizer_reports(flavour):
    """The reports of the last program, kept under a name of their own."""
    found = []
    for number, path in enumerate(_report_files(flavour)):
        kept = path.replace("sanitizer.", f"report-{os.getpid()}-{number}.")
        os.rename(path, kept)
        with open(kept, encoding="utf-8", errors="replace") as stream:
            lines = [line.rstrip() for line in stream if line.strip()]
        # Programs are told apart by pid; an empty file says nothing.
        if lines:
            found.append((kept, lines[:14]))
    return found


def run_fuzz(flavour, report, pattern):
    """Each target for a short time from its corpus; a finding's input is kept beside the log."""
    started = time.monotonic()
    folder = f"{flavour.build_dir}/fuzz"
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.abspath(os.path.join(folder, name))
        if not name.endswith("_fuzz") or pattern not in name or not os.access(path, os.X_OK):
            continue
        log = flavour.log(name)
        grown = os.path.abspath(f"{flavour.build_dir}/corpus/{name}")
        os.makedirs(grown, exist_ok=True)
        seeds = os.path.abspath(f"tests/fuzz/corpus/{name.removesuffix('_fuzz')}")
        argv = [path, f"-max_total_time={FUZZ_SECONDS}", "-timeout=10", "-rss_limit_mb=2048",
                f"-artifact_prefix={os.path.dirname(log)}/{name}-", grown]
        if os.path.isdir(seeds):
            argv.append(seeds)
        outcome = run(argv, log, FUZZ_SECONDS * 6 + 60, env=environment(flavour))
        summary = add_script(report, f"fuzz/{name}", outcome)
        print(f"fuzz/{name}: {summary} ({outcome.seconds:.1f} s)", flush=True)
    report.phase("fuzz: targets", time.monotonic() - started)


def run_scripts(report, pattern):
    """Suites with a driver of their own: tests/<suite>/run.sh or run.py."""
    release = flavours()["release"]
    started = time.monotonic()
    for suite in sorted(os.listdir("tests")):
        if suite in ("support", "bench") or pattern not in suite:
            continue
        for driver in ("run.sh", "run.py"):
            script = os.path.abspath(f"tests/{suite}/{driver}")
            if not os.path.exists(script):
                continue
            argv = ["bash" if driver.endswith(".sh") else "python3", script]
            env = environment(release)
            env["BH_BUILD_DIR"] = os.path.abspath(release.build_dir)
            outcome = run(argv, release.log(f"suite-{suite}"), 1200, env=env)
            summary = add_script(report, f"suite/{suite}", outcome)
            print(f"suite/{suite}: {summary} ({outcome.seconds:.1f} s)", flush=True)
    report.phase("suites with a driver of their own", time.monotonic() - started)
