"""Runs the measurements of this folder against a build and prints them as JSON. See README.md."""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import others
import same
import servers

ROUNDS = 40
BYTES_ROUNDS = 3
# What the numbers are to be, by where they stand in what is printed.
GOALS = [
    ("calls.do_us", "<=", 5),
    ("calls.worker_32_us", "<=", 5),
    ("commands.run_true_per_bwrap", "<=", 1.3),
    ("bytes.gib_sandbox_rate_per_pipe", ">=", 0.5),
    ("mcp.calls_32_per_second_per_typescript", ">=", 5),
    ("mcp.idle_pss_kib_per_typescript", "<=", 0.1),
    ("mcp.start_initialize_ms_per_typescript", "<=", 0.1),
    ("mcp.start_call_ms_per_typescript", "<=", 0.1),
    ("sandboxes.ns.cold_per_spawn", "<=", 3),
    ("sandboxes.ns.warm_per_spawn", "<=", 1.25),
    ("sandboxes.ns.joined_per_spawn", "<=", 2),
    ("sandboxes.ns.idle_kib_each", "<=", 60),
    ("commands.persistent_per_spawn", "<=", 1.15),
]
# Bubblewrap as one would write it by hand: namespaces and a read-only view, none of the rest.
PLAIN = ["bwrap", "--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--new-session",
           "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
           "--tmpfs", "/tmp", "--clearenv"]


def timed(once):
    """In milliseconds."""
    started = time.perf_counter()
    once()
    return (time.perf_counter() - started) * 1000


def milliseconds(argv, **options):
    return timed(lambda: subprocess.run(argv, check=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, **options))


def commands(program, place):
    """One command: bubblewrap and we in turn, so that both meet the same machine."""
    env = dict(os.environ, HOME=os.path.join(place, "home"),
               XDG_DATA_HOME=os.path.join(place, "data"))
    workspace = os.path.join(place, "workspace")
    for folder in (env["HOME"], workspace):
        os.makedirs(folder)
    theirs = same.Bubblewrap(program, place, workspace, env, ["true"])
    plain = PLAIN + ["--bind", workspace, workspace, "--chdir", workspace, "true"]
    ways = {
        "ours": lambda: milliseconds([program, "run", "--", "true"], cwd=workspace, env=env),
        "theirs": lambda: timed(theirs.run),
        "plain": lambda: milliseconds(plain, cwd=workspace),
    }
    times = {name: [] for name in ways}
    for _ in range(3):
        ways["ours"]()
    for _ in range(ROUNDS):
        for name, once in ways.items():
            times[name].append(once())
    version = [milliseconds([program, "version"], env=env) for _ in range(ROUNDS)]
    ours, theirs, plain = (statistics.median(times[name]) for name in ("ours", "theirs", "plain"))
    return {"run_true_ms": round(ours, 2), "bwrap_true_ms": round(theirs, 2),
            "bwrap_plain_true_ms": round(plain, 2),
            "run_true_per_bwrap": round(ours / theirs, 2),
            "program_start_ms": round(statistics.median(version), 2),
            **others.persistent(program, workspace, env)}


def bytes_through(program, place, gibibytes=1):
    """1 GiB through stdin and stdout of a command in a sandbox, and through a pipe."""
    env = dict(os.environ, HOME=os.path.join(place, "home"),
               XDG_DATA_HOME=os.path.join(place, "data"))
    workspace = os.path.join(place, "workspace")
    source = f"head -c {gibibytes << 30} /dev/zero"
    ways = {"pipe": f"{source} | cat | cat > /dev/null",
            "sandbox": f"{source} | {program} run -- cat > /dev/null"}
    seconds = {name: [] for name in ways}
    for _ in range(BYTES_ROUNDS):
        for name, command in ways.items():
            spent = milliseconds(["bash", "-o", "pipefail", "-c", command], cwd=workspace, env=env)
            seconds[name].append(spent / 1000)
    pipe, sandbox = (statistics.median(seconds[name]) for name in ("pipe", "sandbox"))
    return {"gib_pipe_s": round(pipe, 2), "gib_sandbox_s": round(sandbox, 2),
            "gib_sandbox_rate_per_pipe": round(pipe / sandbox, 2)}


def machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(),
            "load_before": round(os.getloadavg()[0], 2)}


def judged(told):
    """Each goal with what was measured; "met" is null for what was left out."""
    out = []
    for name, relation, bound in GOALS:
        value = told
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        met = None if value is None else (value <= bound if relation == "<=" else value >= bound)
        out.append({"what": name, "value": value, "goal": f"{relation} {bound}", "met": met})
    return out


def main():
    build = os.path.abspath(sys.argv[1])
    node, script, why_not = sys.argv[2:5]
    program = os.path.join(build, "bin/bulkhead")
    told = {"machine": machine()}
    stage = os.path.join(build, "bench")
    os.makedirs(stage, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=stage) as place:
        calls = subprocess.run(
            [os.path.join(build, "tests/bench/bench_calls"),
             os.path.join(build, "samples/plugins"), os.path.join(place, "calls")],
            check=True, capture_output=True, text=True)
        told["calls"] = json.loads(calls.stdout)
        told["commands"] = commands(program, place)
        told["bytes"] = bytes_through(program, place)
        told["sandboxes"] = json.loads(subprocess.run(
            [os.path.join(build, "tests/bench/bench_sandboxes")], check=True, capture_output=True,
            text=True).stdout)
        told["others"] = others.compare(place, dict(os.environ, HOME=os.path.join(place, "home")))
        if why_not:
            told["mcp"] = {"left_out": why_not}
        else:
            told["mcp"] = servers.compare(build, place, node, script)
    told["goals"] = judged(told)
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
