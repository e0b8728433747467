import asyncio
import enum
import threading
import time
from typing import List, Optional

from place import Place

import bulkhead
from bulkhead import Ask


class Tools(Place):
    def call(self, name, **arguments):
        return self.session.tool.call(name, arguments=arguments)

    def test_what_a_tool_returns(self):
        @self.session.tool
        def text_tool(word: str = "x") -> str:
            "Says it."
            return word * 2

        @self.session.tool(name="renamed", description="Counts.")
        def other(numbers: list) -> int:
            "Of a test."
            return sum(numbers)

        @self.session.tool
        def bytes_tool() -> bytes:
            "Of a test."
            return b"\x00\xff"

        @self.session.tool
        def whole() -> dict:
            "Of a test."
            return {"content": [{"type": "text", "text": "as it is"}], "meta": {"a": 1}}

        @self.session.tool
        def nothing() -> None:
            "Of a test."
            return None

        self.assertEqual(self.call("text_tool", word="ab").content[0].text, "abab")
        self.assertEqual(self.call("renamed", numbers=[1, 2, 3]).structured.result, 6)
        reply = self.session.call("tool.call", {"name": "bytes_tool", "arguments": {}})
        self.assertEqual([one.data for one in reply.attachments], [b"\x00\xff"])
        self.assertEqual(self.call("whole").meta.a, 1)
        self.assertEqual(self.call("nothing").content, [])
        listed = {tool.name: tool for tool in self.session.tool.list()}
        self.assertEqual(listed["text_tool"].description, "Says it.")
        self.assertEqual(listed["renamed"].description, "Counts.")

    def test_arguments_are_checked_before_it_runs(self):
        ran = []

        @self.session.tool
        def strict(count: int) -> None:
            "Of a test."
            ran.append(count)
        with self.assertRaises(bulkhead.InvalidArgument) as caught:
            self.call("strict", count="many")
        self.assertIn("count", str(caught.exception))
        with self.assertRaises(bulkhead.InvalidArgument) as caught:
            self.call("strict", count=1, colour="red")
        self.assertIn("colour", str(caught.exception))
        self.assertEqual(ran, [])

    def test_what_a_tool_raises(self):
        @self.session.tool
        def raises(kind: str) -> None:
            "Of a test."
            if kind == "tool":
                raise bulkhead.ToolError("no such city")
            if kind == "value":
                raise ValueError("odd")
            if kind == "fault":
                raise bulkhead.PermissionDenied("not yours", {"reason": "mine"})
            raise SystemExit("leaving")
        with self.assertLogs("bulkhead"):
            self.assertEqual(self.call("raises", kind="value").content[0].text, "ValueError: odd")
        told = self.call("raises", kind="tool")
        self.assertEqual((told.content[0].text, told.is_error), ("no such city", True))
        with self.assertRaises(bulkhead.PermissionDenied) as caught:
            self.call("raises", kind="fault")
        self.assertEqual(caught.exception.reason, "mine")
        with self.assertLogs("bulkhead"), self.assertRaises(bulkhead.Internal):
            self.call("raises", kind="exit")
        self.assertEqual(self.call("raises", kind="tool").is_error, True)  # and it still answers

    def test_a_coroutine(self):
        @self.session.tool
        async def later(word: str) -> str:
            "Of a test."
            await asyncio.sleep(0.01)
            return word[::-1]
        self.assertEqual(self.call("later", word="abc").content[0].text, "cba")

    def test_a_tool_that_uses_its_callers_session(self):
        @self.session.tool
        def count_lines(ask: Ask, path: str) -> int:
            "Counts the lines of a file in the caller's sandbox."
            done = ask.session().sandbox.exec(["wc", "-l", path], sandbox=self.box.id)
            return int(done.stdout.text.split()[0])
        self.box.files.write("lines.txt", content="a\nb\nc\n")
        self.assertEqual(self.call("count_lines", path="lines.txt").structured.result, 3)

    def test_output_while_it_works(self):
        @self.session.tool
        def talks(ask: Ask, size: int) -> str:
            "Of a test."
            ask.write("begin\n")
            ask.write(bytes(size))
            ask.attach("map", b"m" * 1000, "image/png")
            return "done"
        reply = self.session.call("tool.call", {"name": "talks", "arguments": {"size": 8 << 20}})
        self.assertEqual(len(reply.stdout), 6 + (8 << 20))
        self.assertEqual([(a.name, a.type, len(a.data)) for a in reply.attachments], [("map", "image/png", 1000)])

    def test_attachments_of_the_caller(self):
        @self.session.tool
        def measure(ask: Ask) -> dict:
            "Of a test."
            return {one.name: len(one.data) for one in ask.attachments}
        reply = self.session.call("tool.call", {"name": "measure", "arguments": {}},
                                  attachments=[bulkhead.Attached("a", b"123"), bulkhead.Attached("b", b"")])
        self.assertEqual(reply.result.structured, {"a": 3, "b": 0})

    def test_a_call_that_is_given_up(self):
        ended = threading.Event()

        @self.session.tool
        def endless(ask: Ask) -> None:
            "Of a test."
            if ask.wait_cancelled(30):
                ended.set()
        with self.session.start("tool.call", {"name": "endless", "arguments": {}}) as run:
            time.sleep(0.2)
            run.cancel()
            with self.assertRaises(bulkhead.Cancelled):
                run.result()
        self.assertTrue(ended.wait(10))

    def test_many_callers(self):
        @self.session.tool
        def slow(n: int) -> int:
            "Of a test."
            time.sleep(0.02)
            return n * n

        async def main():
            replies = await asyncio.gather(*[self.session.aio.tool.call("slow", arguments={"n": n})
                                             for n in range(100)])
            return [reply.structured.result for reply in replies]
        self.assertEqual(asyncio.run(main()), [n * n for n in range(100)])

    def test_questions_of_the_host(self):
        """Nobody asks yet; that the offer is taken, and a wrong one refused, is what can be seen."""
        self.session.answer("approval", lambda question: {"allow": False})
        self.session.answer("policy.judge", lambda question: {"verdict": "safe"})
        with self.assertRaises(bulkhead.InvalidArgument):
            self.session.answer("weather", lambda question: None)

    def test_the_other_persona_does_not_see_it(self):
        @self.session.tool
        def private() -> None:
            "Of a test."
            return None
        stranger = self.runtime.session("stranger")
        self.assertNotIn("private", [tool.name for tool in stranger.tool.list()])
        with self.assertRaises(bulkhead.NotFound):
            stranger.tool.call("private")

    def test_close_with_a_call_open(self):
        runtime = bulkhead.Runtime(self.config)
        session = runtime.session("tester")
        began = threading.Event()

        @session.tool
        def waits(ask: Ask) -> None:
            "Of a test."
            began.set()
            ask.wait_cancelled(30)
        caught = []

        def caller():
            try:
                session.tool.call("waits")
            except bulkhead.BulkheadError as error:
                caught.append(type(error).__name__)
        thread = threading.Thread(target=caller)
        thread.start()
        self.assertTrue(began.wait(10))
        runtime.close()
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertEqual(len(caught), 1)

    def test_tools_that_call_tools(self):
        """Far more calls inside calls than there are threads of any pool."""
        @self.session.tool
        def inner(n: int) -> int:
            "Of a test."
            return n + 1

        @self.session.tool
        def outer(ask: Ask, n: int) -> int:
            "Of a test."
            time.sleep(0.2)  # all of them are open before the first goes on
            return ask.session().tool.call("inner", arguments={"n": n}).structured.result

        @self.session.tool
        def down(ask: Ask, n: int) -> int:
            "Of a test."
            return 0 if n == 0 else 1 + ask.session().tool.call("down", arguments={"n": n - 1}).structured.result

        async def main():
            return await asyncio.wait_for(asyncio.gather(*[
                self.session.aio.tool.call("outer", arguments={"n": n}) for n in range(60)]), 60)
        self.assertEqual([reply.structured.result for reply in asyncio.run(main())], list(range(1, 61)))
        self.assertEqual(self.call("down", n=30).structured.result, 30)

    def test_a_schema_of_its_own(self):
        @self.session.tool(input_schema={"type": "object", "properties": {"x": {"type": "integer"}}})
        def odd(x: object) -> str:
            "Of a test."
            return repr(x)
        self.assertEqual(self.call("odd", x=1).content[0].text, "1")

    def test_results_that_cannot_be_sent(self):
        @self.session.tool
        def strange(kind: str) -> object:
            "Of a test."
            if kind == "nan":
                return {"a": float("nan")}
            if kind == "surrogate":
                return "\udcff"
            if kind == "fault":
                raise bulkhead.PermissionDenied("not \udcff", {"reason": "mine", "odd": object()})
            return object()
        for kind in ("nan", "surrogate", "object"):
            with self.assertLogs("bulkhead"):
                told = self.call("strange", kind=kind)
            self.assertEqual(told.is_error, True, kind)
        with self.assertLogs("bulkhead"), self.assertRaises(bulkhead.PermissionDenied):
            self.call("strange", kind="fault")

    def test_half_a_surrogate_pair_reaches_nobody(self):
        """A tool that writes its result itself, as one in C may."""
        @self.session.tool
        def raw(ask: Ask) -> None:
            "Of a test."
            from bulkhead import _library
            text = _library.packed('{"content":[{"type":"text","text":"a\\ud800b \\\\ud800 \\ud83d\\ude00"}]}')
            ask._lib.call(ask._lib.bh_ask_result, ask._handle.raw, *text)
        with self.session.start("tool.call", {"name": "raw", "arguments": {}}) as run:
            told = run.result().content[0].text
        self.assertEqual(told, "a\ufffdb \\ud800 \U0001f600")

    def test_numbers_and_words_arrive_as_annotated(self):
        seen = []

        @self.session.tool
        def takes(n: int, colours: List[Colour], maybe: Optional[Colour] = None) -> None:
            "Of a test."
            seen.append((n, type(n), colours, maybe))
        self.call("takes", n=3.0, colours=["red"], maybe="red")
        self.assertEqual(seen, [(3, int, [Colour.RED], Colour.RED)])

    def test_good_and_bad_definitions_side_by_side(self):
        def define(n):
            def one() -> int:
                return n
            for _ in range(10):
                try:
                    self.session.tool(one, name=f"side_{n}" if n % 2 else "not a name", description="Of a test.")
                except bulkhead.BulkheadError:
                    pass
        threads = [threading.Thread(target=define, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(self.call("side_3").structured.result, 3)

    def test_the_judges_answer_reaches_its_function(self):
        """What the library would ask, handed over as it would be."""
        asked = []
        answers = self.session.answers()

        class Question:
            arguments = {"argv": ["rm"]}

            def _answer(self, value):
                asked.append(value)
        answers._run_question(lambda question: {"verdict": question["argv"][0]}, Question())
        self.assertEqual(asked, [{"verdict": "rm"}])

    def test_an_attachment_above_64_mebibytes_is_refused_and_a_file_is_not(self):
        size = 70 << 20

        @self.session.tool
        def measures(ask: Ask) -> int:
            "Of a test."
            return sum(len(one.data) for one in ask.attachments)
        self.session.files.put("large", input=bytes(size))
        self.assertEqual(len(self.session.files.get("large")), size)
        with self.assertRaises(bulkhead.ResourceExhausted):
            self.session.call("tool.call", {"name": "measures", "arguments": {}},
                              attachments=[bulkhead.Attached("big", bytes(size))])

    def test_an_attachment_that_comes_as_a_stream_is_whole_in_the_end(self):
        from bulkhead import _library, _wire
        stream = _library.STREAM_ATTACHED
        reply, parts = bulkhead.Reply(), {}
        for event in (bulkhead.Attachment("small", "text/plain", b"s"),
                      bulkhead.Attachment("large", "image/png", b"", stream), bulkhead.Output(stream, b"ab"),
                      bulkhead.Output(1, b"out"), bulkhead.Output(stream, b"cd"), bulkhead.Output(stream, b"")):
            _wire.events_into(reply, parts, event)
        _wire.finish(reply, parts, {"done": True})
        self.assertEqual([(one.name, one.data) for one in reply.attachments], [("small", b"s"), ("large", b"abcd")])
        self.assertEqual((reply.output, reply.result), ({1: b"out"}, {"done": True}))


class Colour(enum.Enum):
    RED = "red"
