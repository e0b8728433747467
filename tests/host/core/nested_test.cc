#include "core/nested.h"

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "as_plugin.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

const std::set<std::string> kNeeds = {"t.inner", "t.fails", "t.read", "t.wait", "t.deep"};

// A tool that may run the operations above.
template <class F>
EngineHost::Body tool(F function) {
  return [function](Call& call) {
    bh::CallOptions options;
    options.needs = &kNeeds;
    return as_plugin(call, function, options);
  };
}

void add_inner(EngineHost& host) {
  host.add("t.inner", [](Call& call) -> bh::Result<void> {
    (void)call.item(R"({"i":1})");
    (void)call.emit(2, "out");
    (void)call.attach({"a", "text/plain", "bytes"});
    call.event(R"({"p":1})");
    return call.set_result(R"({"inner":true})");
  });
  host.add("t.fails", [](Call& call) -> bh::Result<void> {
    (void)call.set_result("7");
    return bh::fail(BH_ABORTED, "it lost", "lost");
  });
  host.add("t.read", [](Call& call) -> bh::Result<void> {
    char buffer[16];
    std::string all;
    std::size_t got = 0;
    for (;;) {
      if (bh_status st = call.input().receive(call, buffer, sizeof buffer, &got)) {
        return tl::unexpected(bh::stop_error(st));
      }
      if (got == 0) return call.set_result(bh::json::quote(all));
      all.append(buffer, got);
    }
  });
  host.add("t.wait", [](Call& call) -> bh::Result<void> {
    return tl::unexpected(bh::stop_error(call.wait(bh::kNoLimit)));
  });
}

// What an operation's answers came to.
struct Heard {
  std::string result, items, output, attached, fault;
  bh_status fault_code = BH_OK;
  bh_status say = BH_OK;  // what the functions answer
};
bh_run_io io_into(Heard& heard, std::uint32_t flags = 0) {
  bh_run_io io = io_with(flags);
  io.ctx = &heard;
  io.result = [](void* ctx, const char* json, size_t len) -> bh_status {
    static_cast<Heard*>(ctx)->result.assign(json, len);
    return static_cast<Heard*>(ctx)->say;
  };
  io.item = [](void* ctx, const char* json, size_t len) -> bh_status {
    static_cast<Heard*>(ctx)->items.append(json, len);
    return static_cast<Heard*>(ctx)->say;
  };
  io.emit = [](void* ctx, int32_t stream, const void* data, size_t size) -> bh_status {
    auto& heard_there = *static_cast<Heard*>(ctx);
    heard_there.output += std::to_string(stream) + ":";
    heard_there.output.append(static_cast<const char*>(data), size);
    return heard_there.say;
  };
  io.attach = [](void* ctx, const bh_blob* blob) -> bh_status {
    static_cast<Heard*>(ctx)->attached.assign(blob->name.data, blob->name.size);
    return static_cast<Heard*>(ctx)->say;
  };
  io.fault = [](void* ctx, bh_status code, const char* msg, size_t len, const char* details,
                size_t details_len) {
    auto& heard_there = *static_cast<Heard*>(ctx);
    heard_there.fault_code = code;
    heard_there.fault = std::string(msg, len) + "|" + std::string(details, details_len);
  };
  return io;
}

}  // namespace

TEST_CASE("an operation's answers go where the plugin says, and nothing passes unasked") {
  EngineHost host;
  add_inner(host);
  Heard heard;
  std::uint32_t flags = 0;
  bool functions = true;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             heard = {};
             bh_run_io io = functions ? io_into(heard, flags) : io_with(flags);
             return run_nested(c, "t.inner/1", "{}", io);
           }));
  auto out = host.run("t.tool");
  CHECK(out.last == BH_EVENT_RESULT);
  CHECK(heard.result == R"({"inner":true})");
  CHECK(heard.items == R"({"i":1})");
  CHECK(heard.output == "2:out");
  CHECK(heard.attached == "a");
  CHECK(out.items.empty());
  CHECK(out.output.empty());
  CHECK(out.progress.empty());

  functions = false;
  out = host.run("t.tool");
  CHECK(out.last == BH_EVENT_RESULT);
  CHECK(out.items.empty());
  CHECK(out.result == "null");

  flags = BH_RUN_OUTPUT;
  out = host.run("t.tool");
  CHECK(out.items.size() == 1);
  CHECK(out.text() == "out");
  CHECK(out.attachments.size() == 1);
  CHECK(out.progress.size() == 1);
  CHECK(out.result == "null");  // a result is the tool's own affair

  functions = true;
  out = host.run("t.tool");
  CHECK(out.text() == "out");
  CHECK(heard.output == "2:out");
}

TEST_CASE("a fault goes to the plugin's function, or is the call's own without one") {
  EngineHost host;
  add_inner(host);
  Heard heard;
  bool own = true;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             return run_nested(c, "t.fails", "", own ? io_into(heard) : io_with(0));
           }));
  auto out = host.run("t.tool");
  CHECK(heard.fault_code == BH_ABORTED);
  CHECK(heard.fault.find("it lost|") == 0);
  CHECK(heard.fault.find("\"partial\":7") != std::string::npos);
  CHECK(out.fault.code == BH_INTERNAL);  // it kept the reason to itself
  own = false;
  out = host.run("t.tool");
  CHECK(out.fault.code == BH_ABORTED);
  CHECK(out.reason() == "lost");
  CHECK(out.fault.details.find("\"partial\":7") != std::string::npos);
}

TEST_CASE("what run refuses before anything happens") {
  struct Row {
    const char* what;
    const char* operation;
    const char* args;
    std::uint32_t flags;
    bh_status code;
    const char* reason;
  };
  const Row rows[] = {
      {"not among the needs", "t.secret", "{}", 0, BH_PERMISSION_DENIED, "not_needed"},
      {"unknown", "t.iner", "{}", 0, BH_NOT_FOUND, "unknown_operation"},
      {"another major", "t.inner/2", "{}", 0, BH_NOT_FOUND, "unknown_operation"},
      {"an unknown key", "t.inner", R"({"m":1})", 0, BH_INVALID_ARGUMENT, "schema"},
      {"a wrong type", "t.inner", R"({"n":"x"})", 0, BH_INVALID_ARGUMENT, "schema"},
      {"no object", "t.inner", "[]", 0, BH_INVALID_ARGUMENT, "schema"},
      {"no JSON", "t.inner", "{", 0, BH_INVALID_ARGUMENT, "json_syntax"},
      {"an unknown flag", "t.inner", "{}", 64, BH_UNIMPLEMENTED, "unknown_flag"},
  };
  EngineHost host;
  add_inner(host);
  host.add("t.secret", [](Call& call) { return call.set_result("1"); });
  const Row* now = nullptr;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             return run_nested(c, now->operation, now->args, io_with(now->flags));
           }));
  for (const Row& row : rows) {
    INFO(row.what);
    now = &row;
    auto out = host.run("t.tool");
    CHECK(out.fault.code == row.code);
    CHECK(out.reason() == row.reason);
  }
}

TEST_CASE("io: none is refused, a shorter one is good, NULL operations are refused") {
  EngineHost host;
  add_inner(host);
  int which = 0;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             const bh_operations* ops = operations_of(c);
             bh_run_io io = io_with(0);
             if (which == 0) return ops->run(c, "t.inner", 7, "{}", 2, nullptr, 0, nullptr);
             if (which == 1) io.struct_size = 8;
             if (which == 2) io.struct_size = offsetof(bh_run_io, result);
             if (which == 3) return ops->run(c, nullptr, 7, "{}", 2, nullptr, 0, &io);
             if (which == 4) return ops->run(c, "t.inner", 7, nullptr, 0, nullptr, 3, &io);
             if (which == 5) {
               const bh_blob* blobs[1] = {nullptr};
               return ops->run(c, "t.inner", 7, "{}", 2, blobs, 1, &io);
             }
             return ops->run(c, "t.inner", 7, "{}", 2, nullptr, 0, &io);
           }));
  const bh_status expected[] = {BH_INVALID_ARGUMENT, BH_INVALID_ARGUMENT, BH_OK,
                                BH_NOT_FOUND,        BH_OK,               BH_INVALID_ARGUMENT};
  for (which = 0; which < 6; which++) {
    INFO(which);
    auto out = host.run("t.tool");
    CHECK((out.last == BH_EVENT_RESULT ? BH_OK : out.fault.code) == expected[which]);
  }
}

TEST_CASE("input of an operation: none, known beforehand, or the outer call's") {
  EngineHost host;
  add_inner(host);
  std::uint32_t flags = 0;
  bool known = false;
  Heard heard;
  std::unique_ptr<Gate> sent;  // a tool that reads nothing may end before the test has sent
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             if (!sent->wait()) return BH_UNAVAILABLE;
             bh_blob blob{};
             blob.struct_size = sizeof blob;
             blob.name = {"input", 5};
             blob.data = "known";
             blob.size = 5;
             const bh_blob* blobs[1] = {&blob};
             return run_nested(c, "t.read", "{}", io_into(heard, flags), blobs, known ? 1 : 0);
           }));
  auto with_input = [&] {
    auto options = host.options();
    options.takes_input = true;
    sent = std::make_unique<Gate>();
    auto run = host.start("t.tool", options);
    REQUIRE(run);
    REQUIRE(run->send("sent"));
    REQUIRE(run->send_end());
    sent->open();
    CHECK(host.finish().last == BH_EVENT_RESULT);
  };
  with_input();
  CHECK(heard.result == "\"\"");
  known = true;
  with_input();
  CHECK(heard.result == "\"known\"");
  known = false;
  flags = BH_RUN_INPUT;
  with_input();
  CHECK(heard.result == "\"sent\"");
}

TEST_CASE("a plugin that wants no more ends the operation with its own code") {
  EngineHost host;
  Heard heard;
  std::atomic<int> sent{0};
  host.add("t.inner", [&](Call& call) -> bh::Result<void> {
    for (int i = 0; i < 100; i++) {
      if (bh_status st = call.item("1")) return tl::unexpected(bh::stop_error(st));
      sent++;
    }
    return {};
  });
  std::atomic<bh_status> said{-1};
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             heard.say = BH_OUT_OF_RANGE;
             said = run_nested(c, "t.inner", "{}", io_into(heard));
             return say_result(c, "\"enough\"");
           }));
  CHECK(host.run("t.tool").result == "\"enough\"");
  CHECK(said.load() == BH_OUT_OF_RANGE);
  CHECK(sent.load() == 0);
}

TEST_CASE("nested runs end by their own time limit and by tag, the outer call goes on") {
  EngineHost host;
  add_inner(host);
  std::atomic<bh_status> timed{-1}, tagged{-1}, outer{-1}, untouched{-1};
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             Heard heard;
             bh_run_io io = io_into(heard);
             io.timeout_ns = 30'000'000;
             timed = run_nested(c, "t.wait", "{}", io);
             bh_run_io named = io_into(heard);
             named.tag = 7;
             std::thread other([&] { tagged = run_nested(c, "t.wait", "{}", named); });
             // The run with that tag may not be there yet: asked until it has ended.
             while (tagged.load() == -1) {
               operations_of(c)->cancel(c, 8);
               operations_of(c)->cancel(c, 0);
               operations_of(c)->cancel(c, 7);
               (void)c->api->wait(c, 1'000'000);
             }
             other.join();
             outer = c->api->wait(c, 0);
             untouched = run_nested(c, "t.inner", "{}", io_with(0));
             return say_result(c, "1");
           }));
  add_inner(host);
  auto out = host.run("t.tool");
  CHECK(out.result == "1");
  CHECK(timed.load() == BH_DEADLINE_EXCEEDED);
  CHECK(tagged.load() == BH_CANCELLED);
  CHECK(outer.load() == BH_OK);
  CHECK(untouched.load() == BH_OK);
}

TEST_CASE("after a stop only a cleanup run still runs") {
  EngineHost host;
  add_inner(host);
  Gate in;
  std::atomic<bh_status> plain{-1}, cleanup{-1};
  Heard heard;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             in.open();
             bh_status st = c->api->wait(c, INT64_MAX);
             Heard dropped;
             plain = run_nested(c, "t.inner", "{}", io_into(dropped));
             cleanup = run_nested(c, "t.inner", "{}", io_into(heard, BH_RUN_CLEANUP));
             return st;
           }));
  auto run = host.start("t.tool");
  REQUIRE(run);
  REQUIRE(in.wait());
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
  CHECK(plain.load() == BH_CANCELLED);
  CHECK(cleanup.load() == BH_OK);
  CHECK(heard.result == R"({"inner":true})");
}

TEST_CASE("operations nest 16 deep and no deeper, on one worker") {
  EngineHost host(1);
  std::atomic<int> deepest{0};
  host.add("t.deep", tool([&](bh_call* c) -> bh_status {
             const int depth = static_cast<Call*>(c)->depth();
             if (depth > deepest.load()) deepest = depth;
             return run_nested(c, "t.deep", "{}", io_with(0));
           }));
  auto out = host.run("t.deep");
  CHECK(out.fault.code == BH_FAILED_PRECONDITION);
  CHECK(out.reason() == "nesting");
  CHECK(deepest.load() == 16);
}

TEST_CASE("a cancel of the run ends the innermost operation") {
  EngineHost host;
  add_inner(host);
  Gate in;
  host.add("t.tool", tool([&](bh_call* c) -> bh_status {
             in.open();
             return run_nested(c, "t.wait", "{}", io_with(0));
           }));
  auto run = host.start("t.tool");
  REQUIRE(run);
  REQUIRE(in.wait());
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
}
