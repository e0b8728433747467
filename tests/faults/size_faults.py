"""An argument of 1 GB: refused with the limit and another way, and never held in memory by the host.
(The embedder of the library's row holds it itself: it made it.)"""
import os
import threading

import expect
from ways import Cli, Library, Mcp

SIZE = 1 << 30
MOST_KIB = 200 << 10  # of the program's memory at its peak


def cases(place):
    yield "size, an argument of 1 GB: library", lambda: library(place)
    yield "size, an argument of 1 GB: cli", lambda: cli(place)
    yield "size, a message of 1 GB: mcp", lambda: mcp(place)


def library(place):
    answer = Library(place).many([{"operation": "sandbox.exec", "args": "", "args_bytes": SIZE},
                                  {"operation": "host.inspect", "args": "{}"}])
    fault = answer[0].get("fault")
    # Refused for its size, before it is parsed: a path of 1 GB would be refused in the end as well.
    if fault is None or fault["details"].get("reason") != "arguments_too_large":
        raise AssertionError(f"the answer was {str(answer[0])[:300]}")
    if not fault["details"].get("remedy"):
        raise AssertionError(f"no next step: {fault}")
    if "result" not in answer[1]:
        raise AssertionError(f"the next call failed: {str(answer[1])[:300]}")


def feed(stream, head, tail):
    try:
        stream.write(head)
        block = b"x" * (1 << 20)
        for _ in range(SIZE >> 20):
            stream.write(block)
        stream.write(tail)
        stream.flush()
    except (BrokenPipeError, ValueError):
        pass  # it stopped reading, which is one right answer


def cli(place):
    child = place.start([place.program, "call", "sandbox_execute", "-", "--json"])
    thread = threading.Thread(target=feed, args=(
        child.stdin, b'{"language":"bash","code":"', b'"}'))
    thread.start()
    peak = 0
    while child.poll() is None:
        peak = max(peak, expect.peak_kib(child.pid))
        try:
            child.wait(timeout=0.05)
        except Exception:  # pylint: disable=broad-except
            continue
    thread.join()
    try:
        child.stdin.close()
    except BrokenPipeError:
        pass
    out, err = child.stdout.read(), child.stderr.read()
    child.stdout.close()
    child.stderr.close()
    expect.fault(lambda: Cli(place).answer(child.returncode, out, err),
                 ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT"))
    if peak > MOST_KIB:
        raise AssertionError(f"it took {peak >> 10} MiB to say no")


def mcp(place):
    with Mcp(place) as client:
        feed(client.child.stdin, b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":'
             b'"sandbox_execute","arguments":{"language":"bash","code":"', b'"}}}\n')
        answer = client.receive()
        error = answer.get("error", {})
        if error.get("code") not in (-32600, -32700) or "bytes" not in error.get("message", ""):
            raise AssertionError(f"the answer was {str(answer)[:300]}")
        peak = expect.peak_kib(client.child.pid)
        client.request("ping", {})
        expect.equal("the exit code at the end", client.close(), 0)
    if peak > MOST_KIB:
        raise AssertionError(f"it took {peak >> 10} MiB to say no")
    expect.equal("the workspace", "x" in os.listdir(place.workspace), False)
