"""An embedder of libbulkhead for the suite: an order on stdin, the answers on stdout, both JSON.

{"config": {...}, "calls": [{"operation", "args": text, "persona"?}]} ->
[{"result": ...} or {"fault": {"code", "message", "details"}}], in the order of the calls; all are
started before the first answer is awaited."""
import ctypes
import json
import signal
import sys
from ctypes import byref, c_int32, c_int64, c_size_t, c_uint64, c_void_p, string_at

RESULT, FAULT = 4, 5
CODES = {1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED",
         5: "NOT_FOUND", 6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED",
         9: "FAILED_PRECONDITION", 10: "ABORTED", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED",
         13: "INTERNAL", 14: "UNAVAILABLE", 15: "DATA_LOSS", 16: "UNAUTHENTICATED"}


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("bh_event_data", "bh_event_fault", "bh_fault_message", "bh_fault_details"):
            getattr(self.lib, name).restype = c_void_p
        self.lib.bh_event_tag.restype = c_uint64

    def text(self, function, handle):
        size = c_size_t()
        data = getattr(self.lib, function)(handle, byref(size))
        return string_at(data, size.value).decode() if data else ""

    def fault(self, handle):
        details = self.text("bh_fault_details", handle)
        return {"code": CODES.get(self.lib.bh_fault_code(handle), "?"),
                "message": self.text("bh_fault_message", handle),
                "details": json.loads(details) if details else {}}

    def do(self, function, *args):
        """None, or the fault."""
        fault = c_void_p()
        if getattr(self.lib, function)(*args, byref(fault)) == 0:
            return None
        told = self.fault(fault)
        self.lib.bh_fault_free(fault)
        return told

    def make(self, function, *args):
        handle = c_void_p()
        fault = self.do(function, *args, byref(handle))
        return handle, fault


def words(text):
    data = text.encode("utf-8", "surrogateescape")
    return data, c_size_t(len(data))


def main():
    # It waits inside the library, where Python's own handler would not come to its turn.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    library = Library(sys.argv[1])
    order = json.loads(sys.stdin.buffer.read().decode("utf-8", "surrogateescape"))
    runtime, fault = library.make("bh_runtime_new", *words(json.dumps(order["config"])))
    if fault is not None:
        print(json.dumps([{"fault": fault}] * len(order["calls"])))
        return
    queue, _ = library.make("bh_queue_new", runtime)
    sessions, answers, open_calls, kept = {}, {}, 0, []
    for tag, call in enumerate(order["calls"]):
        persona = call.get("persona", "default")
        if persona not in sessions:
            sessions[persona], fault = library.make(
                "bh_session_new", runtime, *words(json.dumps({"persona": persona})))
        request, fault = library.make("bh_request_new", *words(call["operation"]))
        if fault is None:
            args = "x" * call["args_bytes"] if "args_bytes" in call else call["args"]
            if "args_bytes" in call:
                args = '{"argv":["true"],"cwd":"' + args + '"}'
            fault = library.do("bh_request_args", request, *words(args))
        run = c_void_p()
        if fault is None:
            library.do("bh_request_timeout", request, c_int64(100_000))
            run, fault = library.make("bh_start", sessions[persona], request, queue, c_uint64(tag))
        if fault is not None:
            answers[tag] = {"fault": fault}
            continue
        kept.append(run)
        open_calls += 1
    while open_calls:
        event, fault = library.make("bh_queue_next", queue, c_int32(110_000))
        if not event:
            raise SystemExit(f"no event, {open_calls} calls open, {fault}")
        kind, tag = library.lib.bh_event_kind(event), library.lib.bh_event_tag(event)
        if kind == RESULT:
            answers[tag] = {"result": json.loads(library.text("bh_event_data", event) or "null")}
        if kind == FAULT:
            answers[tag] = {"fault": library.fault(c_void_p(library.lib.bh_event_fault(event)))}
        open_calls -= kind in (RESULT, FAULT)
        library.lib.bh_event_free(event)
    library.do("bh_runtime_close", runtime, c_int32(20_000))
    print(json.dumps([answers[tag] for tag in range(len(order["calls"]))]))


main()
