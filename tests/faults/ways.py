"""The three ways in, with one shape: call(tool, arguments) gives a result or raises Fault."""
import json
import os
import signal
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
REVISION = "2025-11-25"
PATIENCE = 120  # seconds that nothing here takes


class Fault(Exception):
    """A typed error as it came out of one way in."""

    def __init__(self, way, code, message, details):
        super().__init__(f"{code}: {message}")
        self.way, self.code, self.message, self.details = way, code, message, details
        self.reason = details.get("reason", "")
        self.field = details.get("field", "")
        self.remedy = details.get("remedy", "")


def fault_within(way, result):
    """Raises the fault of a tool's result that is an error; any other result is given back."""
    if result.get("isError") or result.get("is_error"):
        meta = result.get("_meta") or result.get("meta") or {}
        fault = meta.get("bulkhead/fault")
        if fault is None:
            raise Broken(f"{way}: an error without its fault: {result}")
        raise Fault(way, fault["code"], fault["message"], fault.get("details", {}))
    return result


class Broken(Exception):
    """Something that is no answer at all."""


class Place:
    """Folders, configuration and environment of one host that a fault is tried on."""

    def __init__(self, top, build, config=None, path=None):
        self.top, self.build = top, build
        self.program = os.path.join(build, "bin/bulkhead")
        self.workspace = os.path.join(top, "workspace")
        self.data = os.path.join(top, "data")
        for folder in (self.workspace, os.path.join(top, "home"), os.path.join(top, "config/bulkhead")):
            os.makedirs(folder, exist_ok=True)
        self.config = {"version": 1, "data_root": self.data,
                       "toolsets": {"config": {"sandbox": {"aliases": True, "extras": True}}}}
        self.config.update(config or {})
        with open(os.path.join(top, "config/bulkhead/config.json"), "w", encoding="utf-8") as out:
            json.dump(self.config, out)
        self.environment = {
            "HOME": os.path.join(top, "home"), "LC_ALL": "C.UTF-8",
            "PATH": path or os.environ["PATH"],
            "XDG_CONFIG_HOME": os.path.join(top, "config")}

    def start(self, argv, **options):
        # What starts the suite may ignore signals (nohup, a shell's background), and that is inherited.
        def default_signals():
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)

        return subprocess.Popen(argv, preexec_fn=default_signals, cwd=self.workspace, env=self.environment,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)


class Library:
    """libbulkhead by ctypes, in a process of its own: what happens to that one is its answer."""
    name = "library"

    def __init__(self, place):
        self.place = place

    def many(self, calls):
        """calls: [{operation, args (text), persona?}], all started before the first is awaited.
        Gives [{result} or {fault}] in order."""
        config = dict(self.place.config)
        config["defaults"] = dict(config.get("defaults", {}), workspace=self.place.workspace)
        child = self.place.start([sys.executable, os.path.join(HERE, "embedder.py"),
                                  os.path.join(self.place.build, "lib/libbulkhead.so")])
        order = json.dumps({"config": config, "calls": calls}).encode("utf-8", "surrogateescape")
        out, err = child.communicate(order, timeout=PATIENCE)
        if child.returncode != 0:
            raise Broken(f"library: the embedder ended with {child.returncode}: {err[-2000:]!r}")
        return json.loads(out)

    def operation(self, name, args, persona="default"):
        text = args if isinstance(args, str) else json.dumps(args)
        answer = self.many([{"operation": name, "args": text, "persona": persona}])[0]
        if "fault" in answer:
            fault = answer["fault"]
            raise Fault(self.name, fault["code"], fault["message"], fault["details"])
        if name == "tool.call":
            fault_within(self.name, answer["result"])
        return answer

    def call(self, tool, arguments, persona="default"):
        return self.operation("tool.call", {"name": tool, "arguments": arguments}, persona)


class Cli:
    """bulkhead call TOOL JSON --json"""
    name = "cli"

    def __init__(self, place):
        self.place = place

    def run(self, *argv, stdin=b""):
        child = self.place.start([self.place.program, *argv])
        out, err = child.communicate(stdin, timeout=PATIENCE)
        return child.returncode, out, err

    def call(self, tool, arguments, persona="default"):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        long = len(text) > 100_000  # more than one argument of a program may be
        code, out, err = self.run("call", tool, "-" if long else text, "--persona", persona, "--json",
                                  stdin=text.encode() if long else b"")
        return self.answer(code, out, err)

    def answer(self, code, out, err):
        try:
            said = json.loads(out.splitlines()[-1]) if out.strip() else json.loads(err.splitlines()[-1])
        except (ValueError, IndexError):
            raise Broken(f"cli: exit {code}, said {out[-500:]!r} {err[-500:]!r}") from None
        if "error" in said:
            if code == 0:
                raise Broken(f"cli: an error with exit code 0: {said}")
            error = said["error"]
            raise Fault(self.name, error["code"], error["message"], error.get("details", {}))
        return fault_within(self.name, said)


class Mcp:
    """bulkhead mcp, spoken to line by line."""
    name = "mcp"

    def __init__(self, place, persona="default"):
        self.place, self.persona = place, persona
        self.child = place.start([place.program, "mcp", "--persona", persona])
        self.last_id = 0
        threading.Thread(target=self._drain, daemon=True).start()
        self.request("initialize", {"protocolVersion": REVISION, "capabilities": {},
                                    "clientInfo": {"name": "faults", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _drain(self):
        self.log = self.child.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send_line(self, line):
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()

    def send(self, message):
        self.send_line(json.dumps(message).encode())

    def receive(self):
        line = self.child.stdout.readline()
        if not line:
            raise Broken("mcp: the server ended")
        return json.loads(line)

    def answer_to(self, number):
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                return message

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.answer_to(self.last_id)

    def call(self, tool, arguments):
        return self.result(self.request("tools/call", {"name": tool, "arguments": arguments}))

    def result(self, message):
        if "error" in message:
            error = message["error"]
            data = error.get("data") or {}
            raise Fault(self.name, error["code"], error["message"], data.get("details", data))
        return fault_within(self.name, message["result"])

    def close(self):
        """EOF, and the exit code."""
        if self.child.poll() is None:
            self.child.stdin.close()
        code = self.child.wait(timeout=PATIENCE)
        self.child.stdout.close()
        return code
