"""Malformed JSON. The protocol's own answer is right where the text is no message at all."""
import expect
from ways import Cli, Library, Mcp

ROWS = [
    # name, text of a tool's arguments
    ("ends in the middle", '{"language": "bash", "code": '),
    ("a doubled key", '{"language": "bash", "code": "a", "code": "b"}'),
    ("a comma too many", '{"language": "bash", "code": "a",}'),
    ("no object", '["bash"]'),
    ("129 levels deep", '{"code": ' + "[" * 129 + "]" * 129 + "}"),
    ("no UTF-8", '{"language": "bash", "code": "\udcff"}'),
    ("a number that is none", '{"language": "bash", "code": "a", "timeout_seconds": 1e}'),
    ("a control character in a string", '{"language": "bash", "code": "a\nb"}'),
]


def cases(place):
    library, cli = Library(place), Cli(place)
    for name, text in ROWS:
        body = '{"name": "sandbox_execute", "arguments": ' + text + "}"
        yield f"json, {name}: library", lambda body=body: expect.fault(
            lambda: library.operation("tool.call", body), "INVALID_ARGUMENT", ("json_syntax", "json_duplicate_key", "json_depth", "json_utf8", "schema"))
        yield f"json, {name}: cli", lambda text=text: expect.fault(
            lambda: cli.call("sandbox_execute", text), "INVALID_ARGUMENT")
        yield f"json, {name}: mcp", lambda text=text: over_mcp(place, text)


def over_mcp(place, text):
    """The line is refused by the protocol's code, or the call as a result that says why; either way
    the next call on the same connection works."""
    with Mcp(place) as mcp:
        line = ('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"sandbox_execute",'
                '"arguments":' + text.replace("\n", "\x01") + "}}")
        mcp.send_line(line.encode("utf-8", "surrogateescape"))
        answer = mcp.receive()
        code = answer.get("error", {}).get("code")
        if code not in (-32700, -32600, -32602):
            raise AssertionError(f"the answer was {answer}")
        if not answer["error"]["message"]:
            raise AssertionError("the error says nothing")
        mcp.request("ping", {})
        if "isError" in mcp.call("sandbox_info", {}) and mcp.call("sandbox_info", {})["isError"]:
            raise AssertionError("the next call failed")
        expect.equal("the exit code at the end", mcp.close(), 0)
