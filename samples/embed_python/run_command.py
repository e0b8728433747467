import ctypes
import json
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p, string_at

bulkhead = ctypes.CDLL("build/release/lib/libbulkhead.so")
for function in ("bh_event_data", "bh_event_fault", "bh_fault_message"):
    getattr(bulkhead, function).restype = c_void_p
RESULT, FAULT = 4, 5


def text(words):
    return words.encode(), c_size_t(len(words.encode()))


def message(fault):
    size = c_size_t()
    return string_at(bulkhead.bh_fault_message(fault, byref(size)), size.value).decode()


def call(function, *args):  # each takes a place for its fault last
    fault = c_void_p()
    if getattr(bulkhead, function)(*args, byref(fault)) != 0:
        raise RuntimeError(message(fault))


def new(function, *args):  # and before that, a place for what it makes
    handle = c_void_p()
    call(function, *args, byref(handle))
    return handle


runtime = new("bh_runtime_new", *text('{"version": 1}'))
session = new("bh_session_new", runtime, *text('{"persona": "default"}'))
queue = new("bh_queue_new", runtime)
request = new("bh_request_new", *text("sandbox.exec"))
call("bh_request_args", request, *text(json.dumps({"argv": ["id"], "collect": True})))
call("bh_do", session, request, queue, c_uint64(1))

while event := new("bh_queue_next", queue, c_int32(0)):
    if bulkhead.bh_event_kind(event) == FAULT:
        raise SystemExit(message(c_void_p(bulkhead.bh_event_fault(event))))
    if bulkhead.bh_event_kind(event) == RESULT:
        size = c_size_t()
        data = bulkhead.bh_event_data(event, byref(size))
        result = json.loads(string_at(data, size.value))
        print(result["exit"], result["stdout"]["text"])
    bulkhead.bh_event_free(event)
bulkhead.bh_runtime_close(runtime, c_int32(1000), None)
