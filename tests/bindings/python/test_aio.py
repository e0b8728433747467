import asyncio
import time

from place import Place

import bulkhead


class Asyncio(Place):
    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 120))

    def test_helpers_and_streams(self):
        async def main():
            box = await self.session.aio.sandbox.create(workspace=self.workspace)
            async with box:
                done = await box.exec(["echo", "hi"])
                self.assertEqual(done.stdout.text, "hi\n")
                await box.files.write("a.txt", content="x")
                self.assertEqual(await box.files.read("a.txt"), b"x")
                got = []
                async with box.start(["sh", "-c", "echo first; read l; echo $l"], input=True) as run:
                    async for event in run:
                        if isinstance(event, bulkhead.Output):
                            got.append(event.data)
                            if event.data == b"first\n":
                                await run.write("second\n")
                                await run.end_input()
                    self.assertEqual((await run.result()).exit.code, 0)
                self.assertEqual(b"".join(got), b"first\nsecond\n")
            return box.id
        gone = self.run_async(main())
        with self.assertRaises(bulkhead.BulkheadError):
            self.session.sandbox.exec(["true"], sandbox=gone)

    def test_many_at_once(self):
        async def main():
            calls = [self.session.aio.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]},
                                           input=b"%d" % i * 100000) for i in range(16)]
            for i, reply in enumerate(await asyncio.gather(*calls)):
                self.assertEqual(reply.stdout, b"%d" % i * 100000)
        self.run_async(main())

    def test_an_async_source(self):
        async def parts():
            for i in range(50):
                await asyncio.sleep(0)
                yield b"%03d" % i

        async def main():
            reply = await self.session.aio.call(
                "sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]}, input=parts())
            self.assertEqual(reply.stdout, b"".join(b"%03d" % i for i in range(50)))
        self.run_async(main())

    def test_a_source_that_fails_cancels_the_command(self):
        async def parts():
            yield b"half"
            raise OSError("the disk is gone")

        async def main():
            with self.assertRaises(OSError):
                await self.session.aio.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["sh", "-c", "cat; sleep 77.11"]},
                                            input=parts())
        self.run_async(main())
        self.assertGone("sleep 77.11")

    def test_a_cancelled_task_ends_its_command(self):
        async def main():
            begin = time.monotonic()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.session.aio.call(
                    "sandbox.exec", {"sandbox": self.box.id, "argv": ["sleep", "77.12"]}), 0.3)
            self.assertLess(time.monotonic() - begin, 20)
        self.run_async(main())
        self.assertGone("sleep 77.12")

    def test_the_loop_is_never_held_up(self):
        async def main():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1
            ticker = asyncio.ensure_future(tick())
            await self.session.aio.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["sleep", "1"]})
            ticker.cancel()
            self.assertGreater(ticks, 5)
        self.run_async(main())

    def test_faults_are_typed(self):
        async def main():
            with self.assertRaises(bulkhead.NotFound):
                await self.session.aio.sandbox.get("nobody")
        self.run_async(main())

    def test_closed_beside_a_task_that_reads(self):
        async def main():
            run = self.session.aio.start("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]}, input=True)

            async def read():
                async for _ in run:
                    pass
            reader = asyncio.ensure_future(read())
            await asyncio.sleep(0.2)
            await run.close()
            with self.assertRaises(bulkhead.Cancelled):
                await asyncio.wait_for(reader, 10)
        self.run_async(main())

    def test_a_blocking_source_does_not_hold_up_the_loop(self):
        def source():
            time.sleep(1)
            yield b"late"

        async def main():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.01)
                    ticks += 1
            ticker = asyncio.ensure_future(tick())
            reply = await self.session.aio.call("sandbox.exec", {"sandbox": self.box.id, "argv": ["cat"]},
                                                input=source())
            ticker.cancel()
            self.assertEqual(reply.stdout, b"late")
            self.assertGreater(ticks, 5)
        self.run_async(main())

    def test_started_outside_of_a_loop(self):
        run = self.session.aio.start("operation.list")
        self.assertGreater(asyncio.run(run.reply()).result.count, 10)

    def test_cancelled_tasks_at_any_moment_leave_nothing(self):
        async def main():
            for i in range(30):
                task = asyncio.ensure_future(self.session.aio.call(
                    "sandbox.exec", {"sandbox": self.box.id, "argv": ["sleep", "77.13"]}, input=b"x" * 300000))
                await asyncio.sleep((i % 10) / 500)
                task.cancel()
                with self.assertRaises((asyncio.CancelledError, bulkhead.Cancelled)):
                    await task
        self.run_async(main())
        self.assertGone("sleep 77.13")
