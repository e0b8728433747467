import array
import io
import os
import random
import sys
import threading
import time
import unittest

from place import Place, running

import bulkhead


class Calls(Place):
    def test_a_command_and_its_result(self):
        done = self.box.exec(["sh", "-c", "echo out; echo err >&2; exit 7"])
        self.assertEqual((done.exit.code, done.stdout.text, done.stderr.text), (7, "out\n", "err\n"))
        self.assertEqual(done["exit"]["reason"], "code")

    def test_output_arrives_while_it_runs(self):
        arrived = []
        with self.box.start(["sh", "-c", "echo first; read line; echo $line"], input=True) as run:
            for event in run:
                if isinstance(event, bulkhead.Output):
                    arrived.append(event.data)
                    if event.data == b"first\n":  # it still waits for its input
                        run.write("second\n")
                        run.end_input()
            self.assertEqual(run.result().exit.code, 0)
        self.assertEqual(b"".join(arrived), b"first\nsecond\n")
        self.assertTrue(run.ended)

    def test_streams_are_kept_apart(self):
        reply = self.session.call("sandbox.exec", {"sandbox": self.box.id,
                                                   "argv": ["sh", "-c", "echo a; echo b >&2; echo c"]})
        self.assertEqual((reply.stdout, reply.stderr), (b"a\nc\n", b"b\n"))
        self.assertEqual(reply.result.exit.code, 0)

    def test_input_in_all_its_forms(self):
        for given in (b"abc" * 100000, "äbc", io.BytesIO(b"x" * 700000), (b"p%d" % i for i in range(1000)),
                      memoryview(b"view"), []):
            want = {bytes: lambda: given, str: lambda: given.encode(),
                    io.BytesIO: lambda: b"x" * 700000, memoryview: lambda: b"view",
                    list: lambda: b""}.get(type(given), lambda: b"".join(b"p%d" % i for i in range(1000)))()
            reply = self.session.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]}, input=given)
            self.assertEqual(reply.stdout, want, type(given))

    def test_64_mebibytes_both_ways(self):
        size = 64 << 20
        got = 0
        with self.box.start(["cat"], input=True) as run:
            def feed():
                for _ in range(64):
                    run.write(bytes(1 << 20))
                run.end_input()
            feeder = threading.Thread(target=feed)
            feeder.start()
            for event in run:
                if isinstance(event, bulkhead.Output):
                    got += len(event.data)
            feeder.join()
        self.assertEqual(got, size)

    def test_a_command_that_reads_no_more_is_no_error_of_call(self):
        reply = self.session.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["head", "-c", "3"]},
                                  input=b"abcdef" * 1000000)
        self.assertEqual(reply.stdout, b"abc")

    def test_written_while_nobody_reads(self):
        """One thread that writes before it reads must not stand still for ever."""
        with self.box.start(["cat"], input=True) as run:
            run.write(b"z" * (8 << 20))
            run.end_input()
            got = sum(len(event.data) for event in run if isinstance(event, bulkhead.Output))
        self.assertEqual(got, 8 << 20)

    def test_files(self):
        self.box.files.write("notes/today.txt", content="hällo")
        self.assertEqual(self.box.files.read("notes/today.txt"), "hällo".encode())
        data = os.urandom(3 << 20)
        self.box.files.write("blob", input=data)
        self.assertEqual(self.box.files.read("blob"), data)
        self.assertEqual(self.box.files.read("blob", offset=5, size=7), data[5:12])
        listed = self.box.files.list("notes")
        self.assertEqual([(item.name, item.kind) for item in listed], [("today.txt", "file")])
        self.session.files.put("kept.bin", input=data)
        self.assertEqual(self.session.files.get("kept.bin"), data)

    def test_bytes_in_arguments(self):
        name = b"odd-\xff\xfe.txt"
        self.box.files.write(name, content=b"\x00\x01")
        self.assertEqual(self.box.files.read(name), b"\x00\x01")

    def test_attachments(self):
        self.session.call("sandbox.write_file", {"sandbox": self.box.id, "path": "attached"},
                          attachments=[bulkhead.Attached("content", b"beside", "text/plain")])
        self.assertEqual(self.box.files.read("attached"), b"beside")


class Failures(Place):
    def test_types_and_details(self):
        with self.assertRaises(bulkhead.NotFound) as caught:
            self.session.sandbox.get("nobody-made-this")
        error = caught.exception
        self.assertEqual((error.code, error.reason), (5, "sandbox_not_found"))
        self.assertIsInstance(error, LookupError)
        with self.assertRaises(bulkhead.InvalidArgument) as caught:
            self.box.exec(["true"], env={"A": 3})
        self.assertEqual(caught.exception.details["field"], "/env/A")
        with self.assertRaises(bulkhead.BulkheadError):
            self.session.call("sandbox.exex")
        with self.assertRaises(bulkhead.InvalidArgument) as caught:
            bulkhead.Runtime(colour=1)
        self.assertIn("colour", str(caught.exception))
        with self.assertRaises(ValueError):
            self.session.call("sandbox.exec", {"argv": ["true"], "timeout_ms": float("nan")})

    def test_the_error_survives_a_pickle(self):
        import pickle
        error = pickle.loads(pickle.dumps(bulkhead.NotFound("no", {"reason": "r"})))
        self.assertEqual((type(error), str(error), error.reason), (bulkhead.NotFound, "no", "r"))

    def test_a_deadline(self):
        begin = time.monotonic()
        with self.assertRaises(bulkhead.DeadlineExceeded):
            self.session.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["sleep", "77.01"]}, timeout=0.3)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertGone("sleep 77.01")

    def test_cancel_from_another_thread(self):
        with self.box.start(["sleep", "77.02"]) as run:
            threading.Timer(0.2, run.cancel).start()
            with self.assertRaises(bulkhead.Cancelled):
                run.result()
        self.assertGone("sleep 77.02")

    def test_leaving_the_block_ends_the_command(self):
        with self.box.start(["sleep", "77.03"]) as run:
            next(run)
        self.assertEqual(running("sleep 77.03"), "")  # the block ends after it
        with self.assertRaises(RuntimeError):
            with self.box.start(["sleep", "77.04"]) as run:
                next(run)
                raise RuntimeError("something of the embedder's own")
        self.assertGone("sleep 77.04")

    def test_a_run_that_is_forgotten_ends(self):
        run = self.box.start(["sleep", "77.05"])
        next(run)
        del run
        self.assertGone("sleep 77.05")

    def test_another_persona_sees_nothing(self):
        with self.assertRaises(bulkhead.NotFound):
            self.runtime.session("stranger").sandbox.exec(["true"], sandbox=self.box.id)

    def test_after_close(self):
        runtime = bulkhead.Runtime(self.config)
        session = runtime.session("tester")
        runtime.close()
        runtime.close()
        with self.assertRaises(bulkhead.BulkheadError):
            session.call("tool.list")
        with self.assertRaises(bulkhead.BulkheadError):
            runtime.session("x")

    def test_output_that_nobody_reads_is_bounded(self):
        with self.box.start(["cat"], input=True) as run:
            with self.assertRaises(bulkhead.ResourceExhausted) as caught:
                for _ in range(200):
                    run.write(bytes(1 << 20))
            self.assertIn("another thread", str(caught.exception))


class Closing(Place):
    """Handles that are closed while other threads use them."""

    def beside(self, *works):
        """Runs them at once; what they may raise is a BulkheadError, and all of them end."""
        wrong = []

        def guarded(work):
            try:
                work()
            except (bulkhead.BulkheadError, StopIteration):
                pass
            except BaseException as error:
                wrong.append(repr(error))
        threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            self.assertFalse(thread.is_alive(), "a thread hangs")
        self.assertEqual(wrong, [])

    def setUp(self):
        self.interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # threads meet in the worst places

    def tearDown(self):
        sys.setswitchinterval(self.interval)

    def test_a_run_is_closed_beside_its_reader_and_writer(self):
        for pause in (0, 0.001, 0.01, 0.05):
            for _ in range(5):
                run = self.box.start(["cat"], input=True)

                def write():
                    while True:
                        run.write(b"x" * 100000)

                def close():
                    time.sleep(pause)
                    run.close()
                self.beside(lambda: list(run), write, close, run.cancel)
                self.assertTrue(run.ended)
                with self.assertRaises(bulkhead.BulkheadError):
                    run.result()

    def test_a_session_is_closed_beside_calls(self):
        for _ in range(20):
            session = self.runtime.session("other")

            def calls():
                while True:
                    session.call("operation.list")
            self.beside(calls, calls, lambda: (time.sleep(0.005), session.close()))

    def test_a_runtime_is_closed_beside_calls(self):
        for _ in range(5):
            runtime = bulkhead.Runtime(self.config)
            session = runtime.session("other")

            def calls():
                while True:
                    session.call("operation.list")
            self.beside(calls, calls, lambda: (time.sleep(0.01), runtime.close()))

    def test_commands_that_are_cancelled_at_any_moment_leave_nothing(self):
        other = self.runtime.session("storm")
        box = other.sandbox.create(workspace=self.workspace)
        for _ in range(200):
            run = box.start(["sleep", "77.06"])
            time.sleep(random.random() * 0.006)  # most of these meet the launcher at work
            run.close()
        box.kill()
        self.assertGone("sleep 77.06")
        self.assertNothingHolds(self.folder)

    def test_the_sandbox_may_be_killed_in_its_block(self):
        with self.session.sandbox.create(workspace=self.workspace) as box:
            box.kill()

    def test_closed_things_say_so(self):
        session = self.runtime.session("other")
        session.close()
        with self.assertRaises(bulkhead.FailedPrecondition) as caught:
            session.call("tool.list")
        self.assertIn("session is closed", str(caught.exception))

    def test_a_source_that_waits_holds_nobody_up(self):
        def source():
            yield b"first\n"
            time.sleep(5)
            yield b"late\n"
        begin = time.monotonic()
        with self.assertRaises(bulkhead.DeadlineExceeded):
            self.session.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]}, input=source(), timeout=0.5)
        self.assertLess(time.monotonic() - begin, 4.5)

    def test_what_a_source_raises(self):
        def source():
            yield b"half"
            raise OSError("the disk is gone")
        with self.assertRaises(OSError) as caught:
            self.session.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]}, input=source())
        self.assertIn("the disk is gone", str(caught.exception))

    def test_odd_arguments_are_named(self):
        for args, word in (({"argv": ["\udcff"]}, "os.fsencode"), ({"argv": [object()]}, "JSON"),
                           ({"argv": ["x"], "env": deep(300)}, "levels")):
            with self.assertRaises(bulkhead.InvalidArgument) as caught:
                self.session.call("sandbox.exec", args)
            self.assertIn(word, str(caught.exception))
        self.assertEqual(bulkhead.Attached("a", array.array("i", [1, 2])).data, array.array("i", [1, 2]).tobytes())
        self.session.call("operation.list", timeout=float("inf"))


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


if __name__ == "__main__":
    unittest.main()
