"""What others need for one command, and a shell that stays: in turn with what the machine needs for the
bare thing. What is not installed is left out, with the reason."""
import json
import os
import shutil
import statistics
import subprocess
import time

ROUNDS = 25
SHELL_ROUNDS = 300


def shell_step(shell):
    started = time.perf_counter()
    shell.stdin.write(b"/bin/true; echo\n")
    shell.stdin.flush()
    if shell.stdout.readline() != b"\n":
        raise SystemExit("bench: a shell gave a wrong answer")
    return (time.perf_counter() - started) * 1000


def persistent(program, workspace, env):
    """A program started by a shell that stays: inside, and outside, line by line in turn."""
    start = {"inside": [program, "run", "--", "/bin/sh"], "outside": ["/bin/sh"]}
    shells = {name: subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=workspace,
                                     env=env) for name, argv in start.items()}
    times = {name: [] for name in shells}
    try:
        for shell in shells.values():
            for _ in range(10):
                shell_step(shell)
        for _ in range(SHELL_ROUNDS):
            for name, shell in shells.items():
                times[name].append(shell_step(shell))
    finally:
        for shell in shells.values():
            shell.stdin.close()
            shell.wait(timeout=30)
            shell.stdout.close()
    inside, outside = (statistics.median(times[name]) for name in ("inside", "outside"))
    return {"shell_inside_ms": round(inside, 3), "shell_outside_ms": round(outside, 3),
            "persistent_per_spawn": round(inside / outside, 3)}


def bundle(runtime, place):
    """What `runtime spec` writes, with this machine's files as its root, read-only."""
    folder = os.path.join(place, os.path.basename(runtime))
    os.makedirs(folder)
    subprocess.run([runtime, "spec"], cwd=folder, check=True)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    root = os.path.join(folder, "rootfs")
    os.makedirs(root)
    for name in ("bin", "lib", "lib64", "usr", "etc"):
        source = os.path.realpath("/" + name)
        if os.path.isdir(source):
            config["mounts"].append({"destination": "/" + name, "type": "bind", "source": source,
                                     "options": ["rbind", "ro"]})
    config["root"] = {"path": "rootfs", "readonly": False}
    config["process"]["terminal"] = False
    config["process"]["args"] = ["/bin/true"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return folder


def runtimes(place):
    """(name, argv or None, why not) of each."""
    for name in ("crun", "runc"):
        runtime = shutil.which(name)
        if runtime is None:
            yield name, None, f"{name} is not installed"
        elif os.geteuid() != 0:
            yield name, None, "as root only"
        else:
            yield name, [runtime, "run", "--bundle", bundle(runtime, place), f"bench-{name}"], ""
    srt = shutil.which("srt")
    yield "srt", [srt, "/bin/true"] if srt else None, "" if srt else \
        "srt is not installed (npm: @anthropic-ai/sandbox-runtime)"


def compare(place, env):
    """Each in turn with the program alone."""
    told = {}
    for name, argv, why in runtimes(place):
        if argv is None:
            told[name] = {"left_out": why}
            continue
        def once(command):
            started = time.perf_counter()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=env, check=False)
            return (time.perf_counter() - started) * 1000, done
        spent, done = once(argv)
        if done.returncode != 0:
            told[name] = {"left_out": done.stderr.decode(errors="replace").strip()[-300:]}
            continue
        times = {"it": [], "alone": []}
        for _ in range(ROUNDS):
            times["it"].append(once(argv)[0])
            times["alone"].append(once(["/bin/true"])[0])
        it, alone = statistics.median(times["it"]), statistics.median(times["alone"])
        told[name] = {"cold_ms": round(it, 2), "spawn_ms": round(alone, 2),
                      "cold_per_spawn": round(it / alone, 2)}
    return told
