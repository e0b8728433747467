#!/usr/bin/env python3
"""One agent's session, played through the MCP server: what an agent does, and what it must not.

    session.py PROGRAM STAGE

PROGRAM is the bulkhead program; STAGE a folder for this run's decoy HOME, workspace and data. Every
line that says ok was tried a moment before; one that fails makes the exit code 1.
"""
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys

from mcp_client import Client, ServerGone
from screen import Screen, dim
from tenants import created, two_personas

TOOL = "sandbox_execute"
STATUS_COLOURS = {"enforced": "32", "partial": "33", "unsupported": "33"}

# A daemon as daemons do it: two forks and a session of its own, its output let go.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execvp("sh", ["sh", "-c", "while :; do echo beat >>heartbeat; sleep 0.1; done # MARK"])
    os._exit(0)
print("the daemon is off; now for something endless", flush=True)
time.sleep(600)
"""


class Stage:
    """The decoy HOME with a key in it, the workspace, and the server's data: all under one folder."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        self.home = os.path.join(folder, "home")
        self.workspace = os.path.join(folder, "workspace")
        self.log = os.path.join(folder, "server.log")
        self.mark = "quickstart-" + secrets.token_hex(8)
        self.secret = "decoy-" + secrets.token_hex(16)
        self.key = os.path.join(self.home, ".ssh", "id_ed25519")
        os.makedirs(os.path.dirname(self.key), mode=0o700)
        os.makedirs(self.workspace)
        with open(os.open(self.key, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as out:
            out.write(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{self.secret}\n"
                      "-----END OPENSSH PRIVATE KEY-----\n")
        # Beside OpenSandbox's tools, the shorter ones that work on the agent's own sandbox.
        config = os.path.join(folder, "config", "bulkhead")
        os.makedirs(config, mode=0o700)
        with open(os.path.join(config, "config.json"), "w", encoding="ascii") as out:
            json.dump({"toolsets": {"config": {"sandbox": {"aliases": True, "extras": True}}}}, out)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("BH_", "XDG_"))}
        self.env.update(HOME=self.home, XDG_DATA_HOME=os.path.join(folder, "data"),
                        XDG_CONFIG_HOME=os.path.join(folder, "config"))

    def start(self, persona="default"):
        return Client([self.program, "mcp", "--persona", persona], self.workspace, self.env, self.log)

    def found(self, name):
        """Where a file of that name lies below the server's data; empty when it does not."""
        for folder, _, names in os.walk(os.path.join(self.folder, "data")):
            if name in names:
                return os.path.join(folder, name)
        return ""

    def marked(self):
        """Processes of this machine, seen from outside, that carry this run's mark."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                try:
                    with open(f"/proc/{entry}/cmdline", "rb") as stream:
                        if self.mark.encode() in stream.read():
                            found.append(int(entry))
                except OSError:
                    pass
        return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage = Stage(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    screen = Screen()
    try:
        play(stage, screen)
    except ServerGone as error:
        screen.check("the server answers", False, str(error))
    screen.end_step()
    if screen.failed:
        print(f"\n{screen.failed} of the checks failed. The server's own words: {stage.log}")
        with open(stage.log, encoding="utf-8", errors="replace") as stream:
            screen.quote("".join(stream.readlines()[-10:]) or "(none)", "!")
        return 1
    print(f"\nHow long each step took:")
    screen.times()
    return 0


def play(stage, screen):
    screen.step("An MCP client starts the server")
    client = stage.start()
    tools = client.tools()
    names = [tool["name"] for tool in tools]
    screen.say(f"{client.server['serverInfo']['name']} {client.server['serverInfo']['version']},"
               f" protocol {client.server['protocolVersion']}, {len(names)} tools:"
               f" {', '.join(names[:8])}{' …' if len(names) > 8 else ''}")
    if not screen.check(f"{TOOL} is among the tools", TOOL in names):
        return

    report = write_and_find(stage, screen, client)
    secrets_and_network(stage, screen, client)
    streamed(screen, client)
    over_time(stage, screen, client)
    created(screen, client)
    enforcement(screen, report)

    screen.step("The client leaves")
    code = client.close()
    screen.check("the server ended with exit code 0", code == 0, f"exit code {code}")
    screen.check("nothing of the session runs any more", not stage.marked(), str(stage.marked()))

    screen.step("Another day: a new server finds the files")
    client = stage.start()
    answer = run(screen, client, "bash", "cat notes.txt ~/memory.txt", most=4)
    screen.check("the workspace and the agent's HOME are as they were left",
                 "bulkheads keep" in answer.text and "remember me" in answer.text, answer.text)
    client.close()

    two_personas(stage, screen)


def run(screen, client, language, code, most=12, **options):
    """One call of the tool, with its code and its answer on the screen."""
    extra = {"timeout_seconds": options.pop("seconds")} if "seconds" in options else {}
    screen.quote(code.strip(), "$" if language == "bash" else ">", most)
    answer = client.call(TOOL, dict(code=code, language=language, **extra), **options)
    if not answer.progress:
        screen.quote(answer.text, "|", most)
    return answer


def write_and_find(stage, screen, client):
    screen.step("The agent runs Python, and the shell finds what it wrote")
    answer = run(screen, client, "python", """
from pathlib import Path
Path("notes.txt").write_text("bulkheads keep one leak from sinking the ship\\n")
Path.home().joinpath("memory.txt").write_text("remember me\\n")
print("wrote", Path("notes.txt").resolve(), "and", Path.home() / "memory.txt")
""")
    screen.check("Python ran", not answer.failed and "wrote" in answer.text, answer.text)
    report = answer.meta.get("bulkhead/enforcement", {})
    answer = run(screen, client, "bash", "wc -w notes.txt && cat ~/memory.txt && id -u")
    screen.check("the next call finds both files",
                 "8 notes.txt" in answer.text and "remember me" in answer.text, answer.text)
    path = os.path.join(stage.workspace, "notes.txt")
    screen.check(f"the file is in the user's workspace: {os.path.relpath(path)}", os.path.exists(path))
    return report


def secrets_and_network(stage, screen, client):
    screen.step("It tries to read the user's ssh key")
    outside = subprocess.run(["cat", stage.key], capture_output=True, text=True, check=False)
    screen.quote(f"cat {stage.key}", "$")
    screen.check("outside, the read succeeds (a decoy in a HOME made for this run)",
                 stage.secret in outside.stdout, outside.stderr)
    answer = run(screen, client, "bash", f"cat {stage.key}")
    screen.check("inside, the same read fails", answer.failed or "exit code" in answer.text.lower(),
                 answer.text)
    screen.check("and nothing of the key came out", stage.secret not in answer.text, answer.text)
    screen.check("the answer says why: it names the rule that hides the path",
                 "isolation.hides" in denied_by(answer), answer.text)

    screen.step("It tries to reach a service of this machine")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            screen.check(f"outside, 127.0.0.1:{port} can be reached", True)
        listener.accept()[0].close()
        answer = run(screen, client, "python", f"""
import socket
socket.create_connection(("127.0.0.1", {port}), timeout=5)
print("connected")
""")
        screen.check("inside, the network is off: the same address refuses",
                     "connected" not in answer.text.split("\n") and
                     "network.mode" in denied_by(answer), answer.text)


def denied_by(answer):
    """The rules that the answer names for what was refused."""
    return [denial.get("rule") for denial in answer.structured.get("denials", [])]


def streamed(screen, client):
    screen.step("Output arrives while the command runs")
    script = "for part in one two three four; do echo $part; sleep 0.4; done"
    screen.quote(script, "$")
    answer = client.call("sandbox_run", {"argv": ["sh", "-c", script], "stream": True},
                         on_progress=lambda seconds, text: screen.quote(
                             f"{dim(f'{seconds:4.1f} s')}  {text.rstrip()}"))
    screen.check("the first lines were here before the command ended",
                 len(answer.progress) >= 2 and answer.progress[0][0] < answer.seconds - 0.5,
                 f"{len(answer.progress)} messages, the answer after {answer.seconds:.1f} s")
    screen.check("the answer holds all of it", all(
        word in answer.text for word in ("one", "two", "three", "four")), answer.text)


def over_time(stage, screen, client):
    screen.step("A command over its time limit, with a daemon that forked itself away twice")
    seen = set()
    answer = run(screen, client, "python", DAEMON.replace("MARK", stage.mark), most=14, seconds=3,
                 on_tick=lambda: seen.update(stage.marked()))
    screen.check("the call came back with the time limit as its reason",
                 answer.failed and "time" in answer.text.lower(), answer.text)
    screen.check(f"while it ran, the daemon was seen from outside (pid {', '.join(map(str, seen))})",
                 bool(seen), "no process carried this run's mark")
    alive = [pid for pid in stage.marked()]
    screen.check("now every process of it is dead", not alive, f"still running: {alive}")
    beats = os.path.getsize(os.path.join(stage.workspace, "heartbeat")) if os.path.exists(
        os.path.join(stage.workspace, "heartbeat")) else 0
    screen.check(f"the daemon had really worked ({beats // 5} heartbeats)", beats > 0)
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


def enforcement(screen, report):
    screen.step("What was enforced")
    rules = report.get("rules", [])
    if not screen.check("the sandbox's report came with its first answer", bool(rules), str(report)):
        return
    screen.say(f"backend {report.get('backend', '?')} {report.get('version', '')}")
    rows = [("rule", "status", "by", "")]
    rows += [(rule["rule"], rule["status"], rule.get("by", ""), rule.get("reason", ""))
             for rule in rules]
    screen.table(rows, STATUS_COLOURS)


if __name__ == "__main__":
    sys.exit(main())
