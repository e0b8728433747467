// Every exported function with NULL for each pointer, and with what is no text, JSON or handle state.
#include <functional>

#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Embedder;
using bh_test::Fault;
using bh_test::Place;

namespace {

struct Bad {
  const char* what;
  std::function<bh_status(bh_fault**)> call;
  bh_status code = BH_INVALID_ARGUMENT;
};

// The call gives the code and a fault with a text; without a fault to fill it gives the same code.
void check_all(const std::vector<Bad>& rows) {
  for (const Bad& row : rows) {
    INFO(row.what);
    bh_fault* f = reinterpret_cast<bh_fault*>(1);  // must be overwritten
    CHECK(row.call(&f) == row.code);
    REQUIRE(f != reinterpret_cast<bh_fault*>(1));
    REQUIRE(f != nullptr);
    CHECK(bh_fault_code(f) == row.code);
    Fault fault = bh_test::take(f);
    CHECK_FALSE(fault.message.empty());
    CHECK(fault.has("\"reason\""));
    CHECK(row.call(nullptr) == row.code);
  }
}

}  // namespace

TEST_CASE("functions without a code take NULL") {
  bh_fault_free(nullptr);
  bh_runtime_free(nullptr);
  bh_session_free(nullptr);
  bh_queue_free(nullptr);
  bh_request_free(nullptr);
  bh_run_free(nullptr);
  bh_event_free(nullptr);
  bh_server_free(nullptr);
  bh_ask_free(nullptr);
  bh_queue_wake(nullptr);
  bh_run_cancel(nullptr);
  size_t n = 7;
  CHECK(bh_fault_code(nullptr) == BH_OK);
  CHECK(*bh_fault_message(nullptr, &n) == '\0');
  CHECK(n == 0);
  CHECK(*bh_fault_details(nullptr, nullptr) == '\0');
  CHECK(bh_queue_fd(nullptr) == -1);
  CHECK(bh_event_kind(nullptr) == 0);
  CHECK(bh_event_tag(nullptr) == 0);
  CHECK(bh_event_id(nullptr) == 0);
  CHECK(bh_event_time_ns(nullptr) == 0);
  CHECK(bh_event_stream(nullptr) == 0);
  CHECK(*bh_event_name(nullptr, &n) == '\0');
  CHECK(*bh_event_type(nullptr, nullptr) == '\0');
  CHECK(bh_event_data(nullptr, &n) != nullptr);
  CHECK(n == 0);
  CHECK(bh_event_fault(nullptr) == nullptr);
  CHECK(bh_event_ask(nullptr) == nullptr);
  CHECK(bh_ask_id(nullptr) == 0);
  CHECK(std::string(bh_version_text()) == "0.1.0");
  CHECK(bh_version() == BH_HOST_VERSION);
  CHECK(bh_plugin_abi() >> 16 == 1);
}

TEST_CASE("NULL where an object or text is due is INVALID_ARGUMENT") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  REQUIRE(host.session != nullptr);
  bh_request* r = Embedder::request("host.inspect", "{}");
  bh_request* input = Embedder::request("tool.call", R"({"name":"upper"})");
  REQUIRE(r != nullptr);
  REQUIRE(input != nullptr);
  REQUIRE(bh_request_input(input, nullptr) == BH_OK);
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, input, host.queue, 1, &run, nullptr) == BH_OK);
  bh_runtime* rt = nullptr;
  bh_session* s = nullptr;
  bh_queue* q = nullptr;
  bh_event* e = nullptr;
  bh_server* v = nullptr;
  bh_request* made = nullptr;
  size_t taken = 0;
  const std::string config = bh_test::config_at(place.path + "/e");
  check_all({
      {"runtime_new out", [&](bh_fault** f) { return bh_runtime_new(config.data(), config.size(), nullptr, f); }},
      {"runtime_new config", [&](bh_fault** f) { return bh_runtime_new(nullptr, SIZE_MAX, &rt, f); }},
      {"runtime_close", [&](bh_fault** f) { return bh_runtime_close(nullptr, 0, f); }},
      {"session_new rt", [&](bh_fault** f) { return bh_session_new(nullptr, "{}", 2, &s, f); }},
      {"session_new out", [&](bh_fault** f) { return bh_session_new(host.runtime, "{}", 2, nullptr, f); }},
      {"session_new config", [&](bh_fault** f) { return bh_session_new(host.runtime, nullptr, 9, &s, f); }},
      {"queue_new rt", [&](bh_fault** f) { return bh_queue_new(nullptr, &q, f); }},
      {"queue_new out", [&](bh_fault** f) { return bh_queue_new(host.runtime, nullptr, f); }},
      {"queue_next q", [&](bh_fault** f) { return bh_queue_next(nullptr, 0, &e, f); }},
      {"queue_next out", [&](bh_fault** f) { return bh_queue_next(host.queue, 0, nullptr, f); }},
      {"request_new name", [&](bh_fault** f) { return bh_request_new(nullptr, 4, &made, f); }},
      {"request_new no name", [&](bh_fault** f) { return bh_request_new(nullptr, 0, &made, f); }},
      {"request_new out", [&](bh_fault** f) { return bh_request_new("host.inspect", 12, nullptr, f); }},
      {"request_args r", [&](bh_fault** f) { return bh_request_args(nullptr, "{}", 2, f); }},
      {"request_args json", [&](bh_fault** f) { return bh_request_args(r, nullptr, SIZE_MAX, f); }},
      {"request_attach r", [&](bh_fault** f) { return bh_request_attach(nullptr, "a", 1, "", 0, "x", 1, f); }},
      {"request_attach name", [&](bh_fault** f) { return bh_request_attach(r, nullptr, 1, "", 0, "x", 1, f); }},
      {"request_attach type", [&](bh_fault** f) { return bh_request_attach(r, "a", 1, nullptr, 1, "x", 1, f); }},
      {"request_attach data", [&](bh_fault** f) { return bh_request_attach(r, "a", 1, "", 0, nullptr, SIZE_MAX, f); }},
      {"request_timeout r", [&](bh_fault** f) { return bh_request_timeout(nullptr, 1, f); }},
      {"request_input r", [&](bh_fault** f) { return bh_request_input(nullptr, f); }},
      {"start s", [&](bh_fault** f) { return bh_start(nullptr, r, host.queue, 1, nullptr, f); }},
      {"start r", [&](bh_fault** f) { return bh_start(host.session, nullptr, host.queue, 1, nullptr, f); }},
      {"start q", [&](bh_fault** f) { return bh_start(host.session, r, nullptr, 1, nullptr, f); }},
      {"do s", [&](bh_fault** f) { return bh_do(nullptr, r, host.queue, 1, f); }},
      {"do r", [&](bh_fault** f) { return bh_do(host.session, nullptr, host.queue, 1, f); }},
      {"do q", [&](bh_fault** f) { return bh_do(host.session, r, nullptr, 1, f); }},
      {"run_send run", [&](bh_fault** f) { return bh_run_send(nullptr, "x", 1, &taken, f); }},
      {"run_send data", [&](bh_fault** f) { return bh_run_send(run, nullptr, SIZE_MAX, &taken, f); }},
      {"run_send taken", [&](bh_fault** f) { return bh_run_send(run, "x", 1, nullptr, f); }},
      {"run_send_end run", [&](bh_fault** f) { return bh_run_send_end(nullptr, f); }},
      {"serve s", [&](bh_fault** f) { return bh_serve(nullptr, "{}", 2, host.queue, 1, &v, f); }},
      {"serve what", [&](bh_fault** f) { return bh_serve(host.session, nullptr, 3, host.queue, 1, &v, f); }},
      {"serve q", [&](bh_fault** f) { return bh_serve(host.session, "{}", 2, nullptr, 1, &v, f); }},
      {"serve out", [&](bh_fault** f) { return bh_serve(host.session, "{}", 2, host.queue, 1, nullptr, f); }},
      {"ask_emit a", [&](bh_fault** f) { return bh_ask_emit(nullptr, 1, "x", 1, &taken, f); }},
      {"ask_attach a", [&](bh_fault** f) { return bh_ask_attach(nullptr, "a", 1, "", 0, "x", 1, f); }},
      {"ask_result a", [&](bh_fault** f) { return bh_ask_result(nullptr, "1", 1, f); }},
      {"ask_fail a", [&](bh_fault** f) { return bh_ask_fail(nullptr, 1, "x", 1, "", 0, f); }},
      {"ask_session a", [&](bh_fault** f) { return bh_ask_session(nullptr, &s, f); }},
  });
  CHECK(rt == nullptr);
  CHECK(s == nullptr);
  CHECK(v == nullptr);
  bh_request_free(r);
  bh_request_free(input);
  bh_run_free(run);
}

TEST_CASE("garbage is refused, with a word for it") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_request* r = Embedder::request("sandbox.exec", R"({"argv":["x"]})");
  bh_request* list = Embedder::request("tool.list", "{}");
  bh_request* sends = Embedder::request("sandbox.exec", R"({"argv":["x"]})");
  REQUIRE(bh_request_input(sends, nullptr) == BH_OK);
  bh_request* incomplete = nullptr;
  REQUIRE(bh_request_new("sandbox.exec", 12, &incomplete, nullptr) == BH_OK);
  bh_request* made = nullptr;
  bh_server* v = nullptr;
  auto args = [&](std::string json) {
    return [&, json](bh_fault** f) { return bh_request_args(r, json.data(), json.size(), f); };
  };
  auto serve = [&](std::string what) {
    return [&, what](bh_fault** f) {
      return bh_serve(host.session, what.data(), what.size(), host.queue, 1, &v, f);
    };
  };
  std::string deep(2000, '[');
  check_all({
      {"no JSON", args("{")},
      {"text behind it", args("{} x")},
      {"no object", args("[]")},
      {"a number", args("5")},
      {"no UTF-8", args("{\"argv\":[\"\xff\"]}")},
      {"a key twice", args(R"({"argv":["a"],"argv":["b"]})")},
      {"too deep", args(deep)},
      {"NUL bytes", args(std::string("\0\0\0", 3))},
      {"an unknown key", args(R"({"argv":["a"],"nope":1})")},
      {"an operation with NUL", [&](bh_fault** f) { return bh_request_new("a\0b", 3, &made, f); }, BH_NOT_FOUND},
      {"an operation that is no UTF-8", [&](bh_fault** f) { return bh_request_new("\xff\xfe", 2, &made, f); }, BH_NOT_FOUND},
      {"a name that is no UTF-8", [&](bh_fault** f) { return bh_request_attach(r, "\xff", 1, "", 0, "x", 1, f); }},
      {"a type that is no UTF-8", [&](bh_fault** f) { return bh_request_attach(r, "a", 1, "\xff", 1, "x", 1, f); }},
      {"an attachment of all memory", [&](bh_fault** f) { return bh_request_attach(r, "a", 1, "", 0, "x", SIZE_MAX, f); },
       BH_RESOURCE_EXHAUSTED},
      {"a negative timeout", [&](bh_fault** f) { return bh_request_timeout(r, -1, f); }},
      {"a timeout that overflows", [&](bh_fault** f) { return bh_request_timeout(r, INT64_MAX, f); }},
      {"input for what takes none", [&](bh_fault** f) { return bh_request_input(list, f); }},
      {"arguments never set", [&](bh_fault** f) { return bh_start(host.session, incomplete, host.queue, 1, nullptr, f); }},
      {"the same, here", [&](bh_fault** f) { return bh_do(host.session, incomplete, host.queue, 1, f); }},
      {"input through bh_do", [&](bh_fault** f) { return bh_do(host.session, sends, host.queue, 1, f); }},
      {"serve nothing", serve("{}")},
      {"serve no JSON", serve("tool")},
      {"serve what nobody asks", serve(R"({"answers":"riddles"})")},
      {"serve two things", serve(R"({"answers":"approval","more":1})")},
      {"serve a tool without a schema", serve(R"({"tool":{"name":"a","description":"b"}})")},
      {"serve a tool of a bad name", serve(R"({"tool":{"name":"a b","description":"b","input_schema":{}}})")},
  });
  for (bh_request* each : {r, list, sends, incomplete}) bh_request_free(each);
}

TEST_CASE("a run can do without its handle, and a fault without its reader") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_request* r = Embedder::request("host.inspect", "{}");
  CHECK(bh_start(host.session, r, host.queue, 5, nullptr, nullptr) == BH_OK);
  CHECK(host.finish(5).last == BH_EVENT_RESULT);
  CHECK(bh_do(host.session, r, host.queue, 6, nullptr) == BH_OK);
  CHECK(host.finish(6, 0).last == BH_EVENT_RESULT);
  bh_request_free(r);
}
