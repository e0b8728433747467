"""Threads, fork, signals, and the end of a process: each in a process of its own."""
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

from place import TOP, Place

HEAD = """
import bulkhead, os, signal, sys, threading, time
CONFIG = {config!r}
WORKSPACE = {workspace!r}
def open_box():
    runtime = bulkhead.Runtime(CONFIG)
    session = runtime.session("tester")
    return runtime, session, session.sandbox.create(workspace=WORKSPACE)
"""


class Processes(Place):
    def script(self, body):
        return HEAD.format(config=self.config, workspace=self.workspace) + textwrap.dedent(body)

    def run_script(self, body, **options):
        return subprocess.run([sys.executable, "-c", self.script(body)], capture_output=True, text=True,
                              timeout=120, **options)

    def test_64_threads(self):
        done = self.run_script("""
            runtime, session, box = open_box()
            wrong, ended = [], []
            def work(n):
                mine = runtime.session(f"t{n % 4}")
                for i in range(5):
                    word = f"{n}-{i}"
                    if session.sandbox.exec(["echo", word], sandbox=box.id).stdout.text != word + "\\n":
                        wrong.append(word)
                    if not mine.tool.list():
                        wrong.append("list")
                ended.append(n)
            threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
            for t in threads: t.start()
            for t in threads: t.join()
            box.kill()
            runtime.close()
            print(len(ended), wrong)
        """)
        self.assertEqual((done.returncode, done.stdout), (0, "64 []\n"), done.stderr)

    def test_multiprocessing_with_spawn(self):
        path = os.path.join(self.folder, "spawned.py")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.script("""
                import multiprocessing
                def work(n):
                    with bulkhead.Runtime(CONFIG) as runtime:
                        with runtime.session("tester").sandbox.create(workspace=WORKSPACE) as box:
                            return box.exec(["echo", str(n)]).stdout.text
                if __name__ == "__main__":
                    kept = bulkhead.Runtime(CONFIG)  # the parent has one too
                    with multiprocessing.get_context("spawn").Pool(3) as pool:
                        print(pool.map(work, range(6)))
                    kept.close()
            """))
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, str([f"{n}\n" for n in range(6)]) + "\n"),
                         done.stderr)

    def test_a_fork_is_refused_with_the_way_out(self):
        done = self.run_script("""
            runtime, session, box = open_box()
            child = os.fork()
            if child == 0:
                code = 3
                try:
                    session.call("tool.list")
                except bulkhead.FailedPrecondition as error:
                    print(error, file=sys.stderr, flush=True)
                    code = 7
                del session, box
                os._exit(code)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            print(box.exec(["echo", "the parent goes on"]).stdout.text)
            box.kill()
            runtime.close()
        """)
        self.assertEqual((done.returncode, done.stdout), (0, "7\nthe parent goes on\n\n"), done.stderr)
        self.assertIn("fork", done.stderr)

    def test_ctrl_c_ends_the_command_first(self):
        for number, start in (("77.21", 'box.exec(["sleep", "77.21"])'),
                              ("77.22", 'list(box.start(["sleep", "77.22"]))'),
                              ("77.23", 'asyncio.run(session.aio.call("sandbox.exec", '
                                        '{"sandbox": box.id, "argv": ["sleep", "77.23"]}))')):
            process = subprocess.Popen([sys.executable, "-c", self.script(f"""
                import asyncio
                signal.signal(signal.SIGINT, signal.default_int_handler)
                runtime, session, box = open_box()
                threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
                begin = time.monotonic()
                try:
                    {start}
                except KeyboardInterrupt:
                    print("interrupted", time.monotonic() - begin < 10, flush=True)
                runtime.close()
            """)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out, err = process.communicate(timeout=60)
            self.assertEqual(out, "interrupted True\n", err)
            self.assertGone(f"sleep {number}")

    def test_the_process_ends_without_close(self):
        begin = time.monotonic()
        done = self.run_script("""
            runtime, session, box = open_box()
            @session.tool
            def waits(ask: bulkhead.Ask) -> None:
                "Waits."
                ask.wait_cancelled(60)
            run = box.start(["sleep", "77.24"])
            next(run)
            @session.tool
            def sleeps() -> None:
                "Sleeps."
                time.sleep(60)
            call = session.start("tool.call", {"name": "waits", "arguments": {}})
            more = session.start("tool.call", {"name": "sleeps", "arguments": {}})
            time.sleep(0.2)
            print("leaving")
        """)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "leaving\n", ""))
        self.assertLess(time.monotonic() - begin, 30)  # it waited for neither of the two minutes
        self.assertGone("sleep 77.24")

    def test_a_killed_process_leaves_nothing(self):
        process = subprocess.Popen([sys.executable, "-c", self.script("""
            runtime, session, box = open_box()
            run = box.start(["sleep", "77.25"])
            next(run)
            print("ready", flush=True)
            time.sleep(60)
        """)], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.assertGone("sleep 77.25")

    def test_the_embedders_own_children_and_signals(self):
        done = self.run_script("""
            import subprocess
            hits = []
            signal.signal(signal.SIGUSR1, lambda *_: hits.append(1))
            runtime, session, box = open_box()
            with box.start(["sleep", "0.5"]) as run:
                for _ in range(10):
                    os.kill(os.getpid(), signal.SIGUSR1)
                    assert subprocess.run(["true"]).returncode == 0
                    assert subprocess.run(["false"]).returncode == 1
                run.result()
            runtime.close()
            print(len(hits))
        """)
        self.assertEqual((done.returncode, done.stdout), (0, "10\n"), done.stderr)

    def test_no_descriptors_stay(self):
        done = self.run_script("""
            runtime, session, box = open_box()
            def descriptors():
                return len(os.listdir("/proc/self/fd"))
            for _ in range(3): box.exec(["true"])
            time.sleep(0.3)
            before = descriptors()
            for i in range(40):
                box.exec(["true"])
                try: session.sandbox.get("nobody")
                except bulkhead.NotFound: pass
                run = box.start(["cat"], input=True)
                run.write("x")
                run.close()
            time.sleep(0.3)
            print(descriptors() - before <= 2, descriptors() - before)
            runtime.close()
        """)
        self.assertTrue(done.stdout.startswith("True"), done.stdout + done.stderr)

    def test_samples(self):
        sample = os.path.join(TOP, "samples", "embed_python", "embed.py")
        env = dict(os.environ, XDG_DATA_HOME=os.path.join(self.folder, "sample"))
        config = '{"data_root": "%s/sampled"}' % self.folder
        done = subprocess.run([sys.executable, sample, config, self.workspace], capture_output=True, text=True,
                              env=env, timeout=120)
        with open(os.path.join(TOP, "samples", "embed_output.txt"), encoding="utf-8") as golden:
            self.assertEqual((done.returncode, done.stdout), (0, golden.read()), done.stderr)


    def test_the_packages_readme(self):
        """Every Python block, one after the other, as a reader would type them."""
        with open(os.path.join(TOP, "sdk/python/README.md"), encoding="utf-8") as stream:
            blocks = re.findall(r"^```python\n(.*?)^```", stream.read(), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 4)
        blocks[0] = blocks[0].replace("    box.kill()\n", "").replace(
            "with bulkhead.Runtime(", "runtime = bulkhead.Runtime(").replace(") as runtime:", ")").replace("\n    ", "\n")
        code = "import asyncio\n" + "\n".join(blocks)
        for path, mine in (("/srv/agents", self.folder + "/readme"), ("/srv/project", self.workspace)):
            code = code.replace(path, mine)
        done = subprocess.run([sys.executable, "-c", code + "box.kill()\n"], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 42", done.stdout)
        self.assertIn("1 b'1\\n'", done.stdout)
        self.assertIn("hello hello", done.stdout)


class Mcp(Place):
    """The ten-line tool of samples/embed_python, under a client that speaks the protocol itself."""

    def serve(self, extra=""):
        with open(os.path.join(TOP, "samples/embed_python/tool.py"), encoding="utf-8") as stream:
            text = stream.read()
        code = [line for line in text.split("\n") if line.strip()]
        self.assertLessEqual(len(code), 10)
        env = dict(os.environ, XDG_DATA_HOME=os.path.join(self.folder, "mcp"), HOME=self.folder)
        return subprocess.Popen([sys.executable, "-c", text.replace("    bulkhead.mcp.serve", extra + "    bulkhead.mcp.serve")],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=self.workspace)

    @staticmethod
    def ask(process, id, method, params):
        import json
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def begin(self, process):
        return self.ask(process, 1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                                   "clientInfo": {"name": "test", "version": "1"}})

    def test_a_client_calls_it(self):
        process = self.serve("    print('not between the messages')\n")
        first = process.stdout.readline()  # printed before it serves: the embedder's own business
        self.assertEqual(first, b"not between the messages\n")
        self.assertIn("result", self.begin(process))
        tools = self.ask(process, 2, "tools/list", {})["result"]["tools"]
        area = [tool for tool in tools if tool["name"] == "area"][0]
        self.assertEqual(area["description"], "The area of a rectangle.")
        self.assertIn("command_run", [tool["name"] for tool in tools])
        answer = self.ask(process, 3, "tools/call", {"name": "area", "arguments": {"width": 3, "height": 4.5}})
        self.assertEqual(answer["result"]["structuredContent"], {"result": 13.5})
        wrong = self.ask(process, 4, "tools/call", {"name": "area", "arguments": {"width": "three", "height": 1}})
        self.assertTrue(wrong["result"]["isError"])
        self.assertIn("width", wrong["result"]["content"][0]["text"])
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (0, b"", b""))

    def test_print_in_a_tool_is_out_of_the_way(self):
        process = self.serve("    @session.tool\n    def loud() -> str:\n        'Prints.'\n        print('loud', flush=True)\n        return 'ok'\n")
        self.begin(process)
        answer = self.ask(process, 2, "tools/call", {"name": "loud", "arguments": {}})
        self.assertEqual(answer["result"]["content"][0]["text"], "ok")
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (0, b"", b"loud\n"))

    def test_ctrl_c_ends_it_in_good_order(self):
        process = self.serve("    import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n")
        self.begin(process)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=30), 0, process.stderr.read())
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def test_with_few_descriptors_left_it_serves_or_says_why(self):
        code = HEAD.format(config=self.config, workspace=self.workspace) + textwrap.dedent("""
            import json, resource, select
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
            runtime = bulkhead.Runtime(CONFIG)
            session = runtime.session("tester")
            bulkhead.mcp._library()
            session.tool.list()
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
            outcomes = []
            for spare in range(12):
                ask, hear = os.pipe(), os.pipe()
                os.write(ask[1], message.encode() + b"\\n" + message.replace("initialize", "tools/list").encode() + b"\\n")
                full = []
                try:
                    while True:
                        full.append(os.open("/dev/null", os.O_RDONLY))
                except OSError:
                    pass
                for fd in full[:spare]:
                    os.close(fd)
                told = []
                def serve():
                    try:
                        bulkhead.mcp.serve(session, ask[0], hear[1])
                        told.append("served")
                    except OSError as error:
                        told.append("OSError")
                    except bulkhead.BulkheadError as error:
                        told.append(type(error).__name__)
                thread = threading.Thread(target=serve)
                thread.start()
                heard = b""
                until = time.monotonic() + 10
                while heard.count(b"\\n") < 2 and not told and time.monotonic() < until:
                    if select.select([hear[0]], [], [], 0.1)[0]:
                        heard += os.read(hear[0], 1 << 20)
                if not told and heard.count(b"\\n") < 2:
                    told.append("silence")
                os.close(ask[1])
                thread.join(20)
                outcomes.append(told[0])
                for fd in full[spare:] + [ask[0], *hear]:
                    os.close(fd)
            print(" ".join(outcomes))
        """)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        outcomes = done.stdout.split()
        self.assertEqual(len(outcomes), 12, done.stderr)
        self.assertLessEqual(set(outcomes), {"OSError", "ResourceExhausted", "served"})
        self.assertEqual(outcomes[-1], "served")
        self.assertIn("ResourceExhausted", outcomes)
