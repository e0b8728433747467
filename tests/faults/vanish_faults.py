"""A client that goes away in the middle of a call, politely or not, and a host that is killed: what ran
ends, what was written stays, the next one works."""
import os
import signal
import subprocess
import time

import expect
from ways import Cli, Mcp

SLEEP = {"language": "bash", "code": "echo begun > begun.txt; (setsid sleep 300 &) ; sleep 300"}


def cases(place):
    for name, leave in (("closes its end", close_both), ("is killed: SIGKILL to the server", kill),
                        ("asks it to end: SIGTERM", terminate)):
        yield f"vanish, the client {name}: mcp", lambda leave=leave: mcp_leaves(place, leave)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
        yield f"vanish, {number.name} in the middle: cli", lambda number=number: cli_leaves(place, number)
        yield f"vanish, {number.name} to an embedder: library", lambda number=number: embedder_leaves(
            place, number)
    yield "vanish, nobody reads the output: cli", lambda: no_reader(place)


def begun(place):
    path = os.path.join(place.workspace, "begun.txt")
    until = time.monotonic() + 30
    while not os.path.exists(path):
        if time.monotonic() > until:
            raise AssertionError("the command did not begin")
        time.sleep(0.02)
    os.unlink(path)


def works_afterwards(place):
    expect.nothing_left()
    answer = Cli(place).call("sandbox_execute", {"language": "bash", "code": "echo alive"})
    if "alive" not in str(answer):
        raise AssertionError(f"the next call failed: {answer}")


def mcp_leaves(place, leave):
    still_there = expect.lasting(place, Cli(place))
    mcp = Mcp(place)
    for number in (50, 51):
        mcp.send({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                  "params": {"name": "sandbox_execute", "arguments": SLEEP}})
    begun(place)
    leave(mcp)
    mcp.child.wait(timeout=30)
    works_afterwards(place)
    still_there()


def close_both(mcp):
    mcp.child.stdin.close()
    mcp.child.stdout.close()


def kill(mcp):
    mcp.child.kill()


def terminate(mcp):
    mcp.child.terminate()


def cli_leaves(place, number):
    cli = Cli(place)
    still_there = expect.lasting(place, cli)
    child = place.start([place.program, "run", "--", "sh", "-c", SLEEP["code"]])
    begun(place)
    child.send_signal(number)
    child.communicate(timeout=30)
    expect.equal("how it ended", child.returncode in (128 + number, -number), True)
    works_afterwards(place)
    still_there()


def embedder_leaves(place, number):
    import json
    import sys
    from ways import HERE
    still_there = expect.lasting(place, Cli(place))
    child = place.start([sys.executable, os.path.join(HERE, "embedder.py"),
                         os.path.join(place.build, "lib/libbulkhead.so")])
    config = dict(place.config, defaults={"workspace": place.workspace})
    child.stdin.write(json.dumps({"config": config, "calls": [{
        "operation": "tool.call",
        "args": json.dumps({"name": "sandbox_execute", "arguments": SLEEP})}]}).encode())
    child.stdin.close()
    begun(place)
    child.send_signal(number)
    child.wait(timeout=30)
    for stream in (child.stdout, child.stderr):
        stream.close()
    works_afterwards(place)
    still_there()


def no_reader(place):
    """SIGPIPE's case: `bulkhead run -- yes | head`."""
    child = place.start([place.program, "run", "--", "yes"])
    child.stdin.close()
    child.stdout.read(4096)
    child.stdout.close()
    try:
        child.wait(timeout=30)
    except subprocess.TimeoutExpired:
        child.kill()
        raise AssertionError("it writes on to nobody") from None
    child.stderr.close()
    works_afterwards(place)
