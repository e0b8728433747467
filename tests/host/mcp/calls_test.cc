// Calls side by side: cancellation, progress, floods, congestion, the end.
#include "fake_host.h"
#include "support/catch.h"

using namespace bh_test;
using std::chrono::milliseconds;

TEST_CASE("arguments reach the host as they were written") {
  Session s;
  s.open();
  s.engine.feed(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"z":1.0,"a":{"k":1E5}}}})");
  s.engine.feed(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}})");
  s.engine.feed(
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":null}})");
  REQUIRE(s.host.started.size() == 3);
  CHECK(s.host.started[0].operation == "tool.call");
  CHECK(s.host.started[0].args == R"({"name":"t","arguments":{"z":1.0,"a":{"k":1E5}}})");
  CHECK(s.host.started[1].args == R"({"name":"t","arguments":{}})");
  CHECK(s.host.started[2].args == R"({"name":"t","arguments":{}})");
}

TEST_CASE("a slow call holds nobody back") {
  Session s;
  s.open();
  uint64_t slow = s.call("1"), quick = s.call("2");
  CHECK(at(s.result(quick), "id") == "2");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})"), "id") == "3");
  CHECK(at(s.result(slow), "id") == "1");
  CHECK(s.engine.idle());
}

TEST_CASE("a cancelled call is stopped in the host and not answered") {
  Session s;
  s.open();
  uint64_t tag = s.call("\"c\"", "t", R"({"progressToken":1})");
  CHECK(s.cancel("\"other\"").empty());
  CHECK(s.host.cancelled.empty());
  CHECK(s.cancel("\"\\u0063\"").empty());
  CHECK(s.host.cancelled == std::set<uint64_t>{tag});
  s.event(tag, BH_EVENT_OUTPUT, "late");
  CHECK(s.said.empty());
  CHECK_FALSE(s.engine.idle());
  CHECK(s.fault(tag, BH_CANCELLED, "cancelled").empty());
  CHECK(s.engine.idle());
  SECTION("its id may be used again, even before it has ended") {
    uint64_t first = s.call("\"c\"");
    s.cancel("\"c\"");
    uint64_t second = s.call("\"c\"");
    CHECK(s.result(first).empty());
    CHECK(at(s.result(second), "id") == "\"c\"");
  }
}

TEST_CASE("a call that the host stopped by itself is answered") {
  Session s;
  s.open();
  std::string got = s.fault(s.call("1"), BH_CANCELLED, "the runtime closes");
  CHECK(at(got, "result", "isError") == "true");
}

TEST_CASE("an id in use is refused, and what uses it goes on") {
  Session s;
  s.open();
  uint64_t tag = s.call("1");
  std::string got =
      s.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}})");
  CHECK(at(got, "error", "code") == "-32600");
  CHECK(s.host.started.size() == 1);
  CHECK(s.call("\"1\"") != tag);  // another id
  CHECK(at(s.result(tag), "result", "content") == "[]");
  CHECK(s.call("1") > tag);
}

TEST_CASE("progress: only where asked for, growing, throttled, none after the answer") {
  Session s;
  s.open();
  uint64_t silent = s.call("1");
  s.event(silent, BH_EVENT_OUTPUT, "x");
  s.event(silent, BH_EVENT_PROGRESS, R"({"progress":1})");
  CHECK(s.said.empty());
  CHECK_FALSE(s.engine.wake_at());

  uint64_t tag = s.call("2", "t", R"({"progressToken":"tök"})");
  s.now += milliseconds(1000);
  s.event(tag, BH_EVENT_OUTPUT, "one\n");
  REQUIRE(s.said.size() == 1);
  CHECK(
      s.said[0] ==
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tök","progress":4,"message":"one\n"}})");
  s.event(tag, BH_EVENT_OUTPUT, "two\n");
  s.event(tag, BH_EVENT_OUTPUT, "three\n");
  CHECK(s.said.size() == 1);
  REQUIRE(s.engine.wake_at());
  CHECK(*s.engine.wake_at() == s.now + milliseconds(100));
  s.engine.tick();
  CHECK(s.said.size() == 1);
  s.now += milliseconds(100);
  s.engine.tick();
  REQUIRE(s.said.size() == 2);
  CHECK(at(s.said[1], "params", "progress") == "14");
  CHECK(at(s.said[1], "params", "message") == R"("two\nthree\n")");
  s.event(tag, BH_EVENT_OUTPUT, "end");
  s.said.clear();
  s.event(tag, BH_EVENT_RESULT, R"({"content":[]})");
  REQUIRE(s.said.size() == 2);
  CHECK(at(s.said[0], "params", "progress") == "17");
  CHECK(at(s.said[1], "id") == "2");
  s.event(tag, BH_EVENT_OUTPUT, "afterwards");
  CHECK(s.said.size() == 2);
}

TEST_CASE("a tool's own progress is passed on as far as it grows") {
  Session s;
  s.open();
  uint64_t tag = s.call("1", "t", R"({"progressToken":7})");
  const char* events[] = {R"({"progress":0.10,"total":1.0,"message":"begun"})",
                          R"({"progress":0.05})",
                          R"({"progress":0.10})",
                          "{\"progress\":",
                          R"({"progress":"x"})",
                          R"({"progress":0.9})"};
  for (const char* e : events) {
    s.now += milliseconds(200);
    s.event(tag, BH_EVENT_PROGRESS, e);
    s.event(tag, BH_EVENT_OUTPUT, "printed as well");
  }
  REQUIRE(s.said.size() == 2);
  CHECK(at(s.said[0], "params") ==
        R"({"progressToken":7,"progress":0.10,"total":1.0,"message":"begun"})");
  CHECK(at(s.said[1], "params") == R"({"progressToken":7,"progress":0.9})");
}

TEST_CASE("output of any size and shape makes bounded, well-formed messages") {
  Session s;
  s.open();
  uint64_t tag = s.call("1", "t", R"({"progressToken":7})");
  s.now += milliseconds(200);
  s.event(tag, BH_EVENT_OUTPUT, "x");
  for (int i = 0; i < 100; ++i) s.event(tag, BH_EVENT_OUTPUT, std::string(1 << 16, 'y'));
  s.event(tag, BH_EVENT_OUTPUT, std::string_view("\xff\x00\xe2\x82", 4));
  s.now += milliseconds(200);
  s.said.clear();
  s.engine.tick();
  REQUIRE(s.said.size() == 1);
  CHECK(s.said[0].size() < 8192);
  CHECK_FALSE(bh::mcp::check_json(s.said[0]));
  CHECK(s.said[0].find("bytes left out") != std::string::npos);
  // The rest of the character comes later, and the character is whole.
  s.now += milliseconds(200);
  s.event(tag, BH_EVENT_OUTPUT, "\xac");
  CHECK(at(s.said.back(), "params", "message") == "\"\xE2\x82\xAC\"");
}

TEST_CASE("progress in 2024-11-05 has no message") {
  Session s;
  s.open("2024-11-05");
  uint64_t tag = s.call("1", "t", R"({"progressToken":7})");
  s.now += milliseconds(200);
  s.event(tag, BH_EVENT_OUTPUT, "abc");
  REQUIRE(s.said.size() == 1);
  CHECK(at(s.said[0], "params") == R"({"progressToken":7,"progress":3})");
}

TEST_CASE("a flood of calls is bounded, and told so") {
  bh::mcp::Limits limits;
  limits.calls = 3;
  Session s(limits);
  s.open();
  for (int i = 0; i < 1000; ++i) s.call(std::to_string(i));
  CHECK(s.host.started.size() == 3);
  REQUIRE(s.said.size() == 997);
  CHECK(at(s.said[0], "id") == "3");
  CHECK(at(s.said[0], "result", "_meta", "bulkhead/fault", "code") == "\"RESOURCE_EXHAUSTED\"");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":"l","method":"tools/list"})"), "error", "code") ==
        "-32603");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":"p","method":"ping"})"), "result") == "{}");
  s.result(s.host.started[0].tag);
  s.call("\"again\"");
  CHECK(s.host.started.size() == 4);
}

TEST_CASE("so are their arguments") {
  bh::mcp::Limits limits;
  limits.argument_bytes = 100;
  Session s(limits);
  s.open();
  std::string big = R"(,"method":"tools/call","params":{"name":"t","arguments":{"x":")" +
                    std::string(60, 'x') + "\"}}}";
  CHECK(s.ask(R"({"jsonrpc":"2.0","id":1)" + big).empty());
  CHECK(s.ask(R"({"jsonrpc":"2.0","id":2)" + big).find("RESOURCE_EXHAUSTED") != std::string::npos);
  s.result(s.host.started[0].tag);
  CHECK(s.ask(R"({"jsonrpc":"2.0","id":3)" + big).empty());
}

TEST_CASE("while the client does not read, requests wait, and can be cancelled") {
  bh::mcp::Limits limits;
  limits.deferred_bytes = 200;
  Session s(limits);
  s.open();
  uint64_t running = s.call("1");
  s.engine.set_congested(true);
  s.call("2");
  s.call("3");
  CHECK(s.host.started.size() == 1);
  CHECK(s.engine.wants_input());
  s.engine.feed(R"({"jsonrpc":"2.0","id":4,"method":"ping"})");
  CHECK_FALSE(s.engine.wants_input());
  s.cancel("1");
  CHECK(s.host.cancelled.count(running) == 1);
  s.cancel("2");
  CHECK(s.engine.wants_input());
  s.engine.set_congested(false);
  REQUIRE(s.host.started.size() == 2);  // the one with id 3
  CHECK(at(s.result(s.host.started[1].tag), "id") == "3");
}

TEST_CASE("at the end tools are stopped and say so, and lists are answered") {
  Session s;
  s.open();
  uint64_t tool = s.call("1");
  s.engine.feed(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  uint64_t list = s.host.started.back().tag;
  s.engine.shut_down();
  CHECK(s.host.cancelled == std::set<uint64_t>{tool});
  CHECK(s.ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})").empty());
  CHECK(at(s.result(list), "result", "tools") == "[]");
  CHECK_FALSE(s.engine.idle());
  CHECK(at(s.fault(tool, BH_CANCELLED, "stopped"), "result", "isError") == "true");
  CHECK(s.engine.idle());
}

TEST_CASE("logs come when asked for, from the level on, at a bounded rate") {
  bh::mcp::Limits limits;
  limits.logs_a_second = 2;
  Session s(limits);
  s.open();
  s.now += std::chrono::seconds(10);
  CHECK(s.host.started.empty());
  auto level = [&](const char* l) {
    return s.ask(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":")" +
                 std::string(l) + "\"}}");
  };
  CHECK(at(level("notice"), "result") == "{}");
  REQUIRE(s.host.started.size() == 1);
  CHECK(s.host.started[0].operation == "log.follow");
  CHECK(s.host.started[0].args == R"({"level":"info"})");
  uint64_t tag = s.host.started[0].tag;
  s.said.clear();
  s.event(tag, BH_EVENT_ITEM, R"({"level":"info","message":"below"})");
  CHECK(s.said.empty());
  s.event(tag, BH_EVENT_ITEM,
          R"({"level":"warn","message":"m","plugin":"org.example.p","fields":{"n":1}})");
  REQUIRE(s.said.size() == 1);
  CHECK(at(s.said[0], "params") ==
        R"({"level":"warning","logger":"org.example.p","data":{"message":"m","fields":{"n":1}}})");
  for (int i = 0; i < 5; ++i) s.event(tag, BH_EVENT_ITEM, R"({"level":"error","message":"e"})");
  CHECK(s.said.size() == 2);
  s.now += std::chrono::seconds(1);
  s.event(tag, BH_EVENT_ITEM, R"({"level":"error","message":"e"})");
  REQUIRE(s.said.size() == 4);
  CHECK(s.said[2].find("4 log records were left out") != std::string::npos);

  level("debug");
  CHECK(s.host.cancelled == std::set<uint64_t>{tag});
  CHECK(s.host.started.back().args == R"({"level":"debug"})");
  s.fault(tag, BH_CANCELLED, "cancelled");
  CHECK_FALSE(s.engine.idle());
  s.engine.shut_down();
  s.fault(s.host.started.back().tag, BH_CANCELLED, "cancelled");
  CHECK(s.engine.idle());
  s.host.refuse = Fault(BH_UNIMPLEMENTED, "no such operation");
}
