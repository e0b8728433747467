#!/usr/bin/env python3
"""Runs the contract suite against backends that are wrong in one thing each (broken/*.cc): the checks named
here have to fail on them, and to pass on the one that is right. A suite that cannot fail proves nothing.

    broken.py SUITE_PROGRAM SCRATCH PLUGIN_FOLDER [PART]

Mostly it waits for time to pass, so that it goes in parts side by side: of its own, each a process."""
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

PARTS = 3

# What broken backends leave comes to us, so that it can be ended by its number.
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
PROGRAM, PLACE, PLUGIN = sys.argv[1:4]
PART = int(sys.argv[4]) if len(sys.argv) > 4 else None
# A suite that a backend crashed leaves its folders behind.
SCRATCH = tempfile.TemporaryDirectory(dir=PLACE)
os.chmod(SCRATCH.name, 0o755)
SUITE = [PROGRAM, "--scratch", SCRATCH.name]

FAULTS = {
    "no-report": ["life.report"],
    "no-reasons": ["profile.every_key"],
    "odd-status": ["life.report"],
    "no-limit-lines": ["profile.every_key"],
    "claims-more": ["profile.unlisted", "profile.only_given", "isolation.others"],
    "plan-stronger": ["life.plan", "profile.plan"],
    "plan-makes": ["life.plan_makes_nothing"],
    "find-differs": ["life.find"],
    "required-ignored": ["profile.required"],
    "claims-walls": ["profile.strength", "places.workspace_path", "places.workspace_ro", "places.elsewhere",
                     "places.root_view", "places.tmp", "places.tmp_apart", "places.mounts",
                     "files_rules.ro", "files_rules.hide", "files_rules.specific", "files_rules.outside",
                     "files_rules.hides", "network.off", "network.filtered", "network.abstract_sockets",
                     "limits.disk_bytes", "identity.user", "identity.kernel_uid", "identity.persona",
                     "isolation.pid", "isolation.capabilities", "isolation.seccomp",
                     "isolation.nested_users", "isolation.ipc"],
    "drops-limits": ["limits.memory_bytes", "limits.pids", "limits.cpu", "limits.wall_ms",
                     "limits.output_bytes", "limits.open_files"],
    "drops-env": ["identity.env_allow", "identity.env_set"],
    "drops-home": ["places.home"],
    "drops-workspace": ["places.workspace", "exec.cwd_default"],
    "drops-options": ["exec.cwd", "exec.env", "limits.command"],
    "loses-last": ["streams.last_bytes"],
    "one-stream": ["streams.apart"],
    "seven-bits": ["streams.binary", "streams.large"],
    "hoards-output": ["streams.as_it_comes", "streams.slow_reader"],
    "hoards-input": ["streams.in_turn", "streams.unread_input", "streams.closed_input"],
    "others-input": ["streams.no_input", "streams.empty_input"],
    "deaf-to-reader": ["stops.reader", "stops.flood"],
    "by-shell": ["exec.no_shell", "exec.no_program", "exec.no_right"],
    "ascii-arguments": ["exec.argv"],
    "few-arguments": ["exec.many_arguments"],
    "no-path": ["exec.path"],
    "in-root": ["exec.cwd_default"],
    "hosts-environment": ["exec.env_clean"],
    "ignoring-signals": ["exec.signal_state"],
    "with-descriptors": ["exec.descriptors"],
    "as-shells-do": ["exec.signals"],
    "always-zero": ["exec.codes"],
    "whole-exit": ["exec.short_exit"],
    "any-flag": ["exec.unknown_flag"],
    "any-id": ["exec.same_id"],
    "empty-is-true": ["exec.empty"],
    "one-at-a-time": ["exec.concurrent"],
    "deaf": ["stops.cancel", "stops.deadline", "stops.stopped", "stops.early",
             "ends.cancel", "limits.bomb", "manners.returned"],
    "stop-as-signal": ["stops.cancel"],
    "out-of-reach": ["ends.daemon", "ends.held_pipe", "ends.background", "ends.stopped",
                     "ends.killed_parent", "ends.nothing_left", "isolation.end"],
    "untold": ["ends.daemon", "ends.held_pipe"],
    "fragile": ["ends.goes_on"],
    "signal-nothing": ["stops.signal", "stops.bad_signal"],
    "signal-all": ["stops.signal_by_id"],
    "destroy-nothing": ["life.destroy_running", "life.nothing_left"],
    "destroy-once": ["life.destroy_absent", "life.destroy_twice"],
    "create-over": ["life.twice", "threads.names"],
    "create-named": ["life.bad_names"],
    "short-names": ["life.names"],
    "crash-on-nonsense": ["profile.malformed"],
    "list-nothing": ["life.list", "life.reopened"],
    "find-always": ["life.find_absent"],
    "find-never": ["life.find", "life.release"],
    "inspect-odd": ["life.inspect"],
    "exec-ghost": ["exec.after_destroy", "threads.destroy"],
    "limit-as-signal": ["limits.command", "limits.wall_ms", "limits.output_bytes"],
    "destroy-busy": ["life.half_made"],
    "leaks-descriptors": ["manners.commands"],
    "sandbox-leaks": ["manners.sandboxes"],
    "no-close-on-exec": ["manners.close_on_exec"],
    "leaves-child": ["manners.commands"],
    "leaves-sleeper": ["manners.close"],
    "prints": ["manners.silent", "description.manifest"],
    "changes-process": ["manners.process"],
    "changes-mask": ["manners.calls"],
    "speaks-late": ["manners.calls"],
    "two-results": ["life.report", "manners.calls"],
    "no-word": ["manners.calls"],
    "not-together": ["threads.fifty"],
    "hollow-tables": ["state.pty", "state.pause", "state.ports", "state.update", "jobs.run_on", "jobs.list",
                      "jobs.destroyed", "images.no_archive", "images.unknown", "images.snapshots"],
    "careless-files": ["files.round_trip", "files.same_view", "files.manage", "files.large", "files.bad_paths"],
    "files-lead-out": ["files.walls"],
    "gives-anything": ["description.capabilities"],
    "two-lines": ["description.texts"],
    "open-schema": ["description.schemas"],
}
# What watches beside the others needs one of them to run.
BESIDE = {"manners.silent": ["exec.path"], "manners.process": ["exec.path"],
          "manners.calls": ["life.report", "exec.cwd", "streams.unread_input"],
          "manners.returned": ["stops.cancel"]}
# Not shown to fail, and why.
UNSHOWN = {
    "description.tables": "the plugin's one function for all of its providers",
    "network.loopback": "takes a wall that is half built",
    "network.unrestricted": "takes a wall where none is asked for",
}
ROOT_ONLY = {"identity.kernel_uid", "limits.bomb"}

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, good, why=""):
    counts["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAILED'}: {what}{'' if good else ': ' + str(why)}", flush=True)


def run(provider, names):
    """Verdicts by check, and the exit code."""
    only = sorted({more for name in names for more in [name, *BESIDE.get(name, [])]})
    argv = [*SUITE, "--json", *[arg for name in only for arg in ("--only", name)], PLUGIN, provider]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if done.stderr:
        print(done.stderr.decode(errors="replace").strip())
    return {line["name"]: line for line in lines if "name" in line}, done.returncode


def end_children():
    """Until there is none: the children of those that end come to us too."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as stream:
            left = stream.read().split()
        if not left:
            return
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)


def right_one():
    listed = subprocess.run([*SUITE, "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    every = [line.split(":")[0] for line in listed.splitlines()]
    shown = {name for names in FAULTS.values() for name in names}
    check("every check is shown to fail, or it is said why not", set(every) == shown | set(UNSHOWN),
          sorted(set(every) ^ (shown | set(UNSHOWN))))
    verdicts, code = run("good", every)
    bad = {name: one["note"] for name, one in verdicts.items() if one["verdict"] == "failed"}
    check("the right one passes", code == 0 and not bad and len(verdicts) == len(every), bad)


def faulty_one(fault, names):
    names = [name for name in names if os.geteuid() == 0 or name not in ROOT_ONLY]
    verdicts, code = run(fault, names)
    end_children()
    for name in names:
        one = verdicts.get(name, {"verdict": "not run", "note": ""})
        if one["verdict"] == "skipped" and "too busy" in one["note"]:
            counts["skipped"] += 1
            print(f"skipped: {fault} and {name}: {one['note']}")
            continue
        noticed = one["verdict"] == "failed" and code == 1
        for _ in range(2):
            # Whether the suite can notice it is asked, not whether it does on a machine that is as
            # busy as this one is now: what a fault leaves may end by itself meanwhile.
            if noticed:
                break
            print(f"again: {fault} and {name}: {one['verdict']}, {one['note']}")
            again, code = run(fault, [name])
            end_children()
            one = again.get(name, one)
            noticed = one["verdict"] == "failed" and code == 1
        check(f"{fault} is noticed by {name}", noticed,
              f"{one['verdict']}, {one['note']} (exit {code})")


def in_parts():
    """The parts' words in their order; the sum of their counts."""
    parts = [subprocess.Popen([sys.executable, *sys.argv, str(part)], stdout=subprocess.PIPE, text=True)
             for part in range(PARTS)]
    for number, part in enumerate(parts):
        text, _ = part.communicate()
        totals = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.MULTILINE)
        print("\n".join(text.splitlines()[:-1] if totals else text.splitlines()), flush=True)
        for kind, count in zip(counts, totals[-1] if totals else ("0", "0", "0")):
            counts[kind] += int(count)
        if not totals or (part.returncode != 0) != (totals[-1][1] != "0"):
            check(f"part {number} comes to its end", False, f"exit code {part.returncode}")


if PART is None:
    right_one()
    in_parts()
else:
    for one in list(FAULTS)[PART::PARTS]:
        faulty_one(one, FAULTS[one])
SCRATCH.cleanup()
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(1 if counts["failed"] else 0)
