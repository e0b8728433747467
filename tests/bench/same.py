"""What to compare `bulkhead run` with: bubblewrap itself, given the very options that Bulkhead gives it.

They are recorded: Bulkhead is told of a program in bubblewrap's place that writes down what it got and
goes on as bubblewrap. What only a descriptor of Bulkhead's stood for is put by path, or as a file.
"""
import json
import os
import shutil
import subprocess

RECORDER = """#!/bin/sh
for word; do
  [ "$last" = --args ] && arguments=$word
  last=$word
done
if [ -n "$arguments" ]; then
  cat "/proc/self/fd/$arguments" >"{out}/arguments"
  n=3
  while [ $n -lt 64 ]; do
    case "$(readlink /proc/$$/fd/$n)" in
      /memfd:*) cat "/proc/$$/fd/$n" >"{out}/$n" ;;
    esac
    n=$((n + 1))
  done
fi
exec {bwrap} "$@"
"""


class Bubblewrap:
    """The command line for `command`, in that workspace, with what `program` makes of it there."""

    def __init__(self, program, place, workspace, env, command):
        self.workspace = workspace
        out = os.path.join(place, "recorded")
        os.makedirs(out)
        # Started by root, Bulkhead runs bubblewrap under an id that owns nothing here.
        os.chmod(place, 0o711)
        os.chmod(out, 0o777)
        recorder = os.path.join(place, "recorder")
        with open(recorder, "w", encoding="utf-8") as file:
            file.write(RECORDER.format(out=out, bwrap=shutil.which("bwrap")))
        os.chmod(recorder, 0o755)
        config = os.path.join(place, "recording.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "isolation": {"config": {"bwrap": {"bwrap": recorder}}}}, file)
        # The first time Bulkhead tries first whether it works at all, which is not what is wanted.
        for _ in range(2):
            for name in os.listdir(out):
                os.remove(os.path.join(out, name))
            subprocess.run([program, "--config", config, "run", "--backend", "bwrap", "--"] + command,
                           check=True,
                           cwd=workspace, env=env, stdin=subprocess.DEVNULL)
        own = os.path.join(env["XDG_DATA_HOME"], "bulkhead/personas/default")
        shown = {"/home/agent": own + "/home", "/tmp": own + "/tmp", "/var/tmp": own + "/tmp",
                 workspace: workspace}
        with open(os.path.join(out, "arguments"), "rb") as file:
            words = file.read().decode().split("\0")[:-1]
        if config in words:  # hidden, as every configuration is: --ro-bind /dev/null CONFIG
            del words[words.index(config) - 2:words.index(config) + 1]
        words = iter(words)
        self.argv = ["bwrap", "--clearenv"]
        self.files = {}  # place in argv -> file whose descriptor belongs there
        for word in words:
            if word == "--as-pid-1":
                continue  # Bulkhead's own init takes the place of bubblewrap's there
            if word == "--chdir":
                next(words)
                continue
            if word in ("--bind-fd", "--ro-bind-fd"):
                next(words)
                target = next(words)
                self.argv += [word[:-3], shown[target], target]
            elif word in ("--ro-bind-data", "--seccomp"):
                self.argv.append(word)
                self.files[len(self.argv)] = os.path.join(out, next(words))
                self.argv.append("")
            else:
                self.argv.append(word)
        self.argv += ["--chdir", workspace, "--"] + command

    def run(self):
        argv = list(self.argv)
        fds = []
        for at, path in self.files.items():
            fds.append(os.open(path, os.O_RDONLY))
            argv[at] = str(fds[-1])
        try:
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           cwd=self.workspace, pass_fds=fds)
        finally:
            for fd in fds:
                os.close(fd)
