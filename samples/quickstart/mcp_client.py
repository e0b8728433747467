"""A small MCP client on stdio, of Python's standard library alone: enough to play one session."""
import json
import queue
import subprocess
import threading
import time

REVISION = "2025-11-25"


class ServerGone(Exception):
    """The server ended, or said something that is no message."""


class Answer:
    """The result of one call, or the error that the server sent in its place."""

    def __init__(self, message, seconds, progress):
        self.result = message.get("result")
        self.error = message.get("error")
        self.seconds = seconds
        self.progress = progress  # [(seconds since the call, text)]

    @property
    def failed(self):
        return self.error is not None or bool(self.result.get("isError"))

    @property
    def text(self):
        if self.error is not None:
            return self.error.get("message", "")
        return "\n".join(part["text"] for part in self.result.get("content", [])
                         if part.get("type") == "text")

    @property
    def meta(self):
        return (self.result or {}).get("_meta") or {}

    @property
    def structured(self):
        return (self.result or {}).get("structuredContent") or {}


class Client:
    """One server process and the conversation with it. One thread reads, the caller's waits."""

    def __init__(self, argv, cwd, env, log):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.arrived = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.server = self.request("initialize", {
            "protocolVersion": REVISION, "capabilities": {},
            "clientInfo": {"name": "bulkhead-quickstart", "version": "1"}}).result
        self._send({"method": "notifications/initialized"})

    def request(self, method, params, on_progress=None, on_tick=None, patience=120.0):
        """Sends one request and waits for its answer. Meanwhile on_progress(seconds, text) gets what
        the server streams and on_tick() is called about ten times a second."""
        self.last_id += 1
        number, started, progress = self.last_id, time.monotonic(), []
        params = dict(params, _meta={"progressToken": number})
        self._send({"id": number, "method": method, "params": params})
        while True:
            try:
                message = self.arrived.get(timeout=0.1)
            except queue.Empty:
                if on_tick is not None:
                    on_tick()
                if time.monotonic() - started > patience:
                    raise ServerGone(f"no answer to {method} within {patience:.0f} s")
                continue
            if message is None:
                raise ServerGone(f"the server ended during {method}")
            seconds = time.monotonic() - started
            if message.get("method") == "notifications/progress":
                text = message["params"].get("message", "")
                if message["params"].get("progressToken") == number and text:
                    progress.append((seconds, text))
                    if on_progress is not None:
                        on_progress(seconds, text)
            elif message.get("method") == "ping":
                self._send({"id": message["id"], "result": {}})
            elif message.get("id") == number:
                return Answer(message, seconds, progress)

    def tools(self):
        found, cursor = [], None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {}).result
            found += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    def call(self, name, arguments, **options):
        return self.request("tools/call", {"name": name, "arguments": arguments}, **options)

    def close(self, patience=10.0):
        """Ends the conversation as a client does: closes stdin. The server's exit code."""
        self.process.stdin.close()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self.log.close()

    def _send(self, message):
        line = json.dumps(dict(message, jsonrpc="2.0"), separators=(",", ":"))
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ServerGone("the server does not read any more") from None

    def _read(self):
        for line in self.process.stdout:
            try:
                self.arrived.put(json.loads(line))
            except ValueError:
                break  # anything but protocol on stdout is a fault of the server's
        self.arrived.put(None)
