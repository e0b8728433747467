"""What an embedder does with Bulkhead, in Python: make a sandbox, stream a command, send it input,
cancel one, read a fault, list tools, call one, define one, clean up.

    PYTHONPATH=sdk/python python3 samples/embed_python/embed.py CONFIG WORKSPACE

The same programme stands beside this one in C, C++, Rust and Go.
"""
import json
import sys

import bulkhead


def stream_a_command(box):
    out, err = b"", b""
    with box.start(["sh", "-c", "echo one; sleep 0.2; echo two; echo three >&2; exit 3"]) as run:
        for event in run:
            if isinstance(event, bulkhead.Output) and event.stream == 1:
                out += event.data
                while b"\n" in out:
                    line, out = out.split(b"\n", 1)
                    print("out:", line.decode(), flush=True)
            elif isinstance(event, bulkhead.Output):
                err += event.data
        done = run.result()
    print("err:", err.decode(), end="")
    print("exit:", done.exit.reason, done.exit.code)


def stdin_both_ways(box):
    print("stdin:", box.exec(["tr", "a-z", "A-Z"], input="hello from the embedder\n").stdout.text, end="")
    print("through:", int(box.exec(["wc", "-c"], input=bytes(4 << 20)).stdout.text), "bytes")


def cancel_a_command(box):
    with box.start(["sleep", "60"]) as run:
        try:
            for event in run:
                if isinstance(event, bulkhead.Item):  # it has begun
                    run.cancel()
        except bulkhead.Cancelled as error:
            print("cancelled:", error.code, error.reason)


def read_a_fault(session):
    try:
        session.sandbox.exec(["true"], sandbox="nobody-made-this")
    except bulkhead.NotFound as error:
        print("fault:", error.code, error.reason)


def tools(session, box):
    if "command_run" in [tool.name for tool in session.tool.list()]:
        print("tools: command_run is among them")
    session.tool.call("sandbox_connect", arguments={"sandbox_id": box.id})
    done = session.tool.call("command_run", arguments={"sandbox_id": box.id, "command": "echo from a tool"})
    print("tool:", done.structured.logs.stdout[0].text)


def serve_a_tool(session):
    @session.tool
    def shout(text: str) -> str:
        "Says it louder."
        return text.upper()

    print("served:", session.tool.call("shout", arguments={"text": "hello"}).content[0].text)


def main():
    with bulkhead.Runtime(json.loads(sys.argv[1])) as runtime:
        session = runtime.session("sample")
        box = session.sandbox.create(workspace=sys.argv[2])
        print("sandbox:", box.record.state)
        stream_a_command(box)
        stdin_both_ways(box)
        cancel_a_command(box)
        read_a_fault(session)
        tools(session, box)
        serve_a_tool(session)
        box.kill()
        print("left:", len(session.sandbox.list()))
    print("closed")


main()
