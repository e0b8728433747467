#include "core/call.h"

#include <algorithm>
#include <atomic>

#include "as_plugin.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

struct Ending {
  const char* what;
  std::function<bh_status(bh_call*)> function;
  bh_status code;         // BH_OK: a result
  const char* reason;
  const char* result_or_text;  // the whole result, or a part of the message
};

const Ending kEndings[] = {
    {"a result", [](bh_call* c) { return say_result(c, R"({"x":2})"); }, BH_OK, "", R"({"x":2})"},
    {"a fault", [](bh_call* c) { return say_fail(c, BH_NOT_FOUND, "no", R"({"reason":"gone"})"); },
     BH_NOT_FOUND, "gone", "no"},
    {"fail, then OK: the record is dropped",
     [](bh_call* c) {
       (void)say_fail(c, BH_NOT_FOUND, "no");
       return say_result(c, "1");
     },
     BH_OK, "", "1"},
    {"two fails: the last counts",
     [](bh_call* c) {
       (void)say_fail(c, BH_NOT_FOUND, "first");
       return say_fail(c, BH_ABORTED, "second");
     },
     BH_ABORTED, "", "second"},
    {"a code without a record", [](bh_call*) -> bh_status { return BH_NOT_FOUND; }, BH_INTERNAL,
     "plugin_misuse", "org.example.test"},
    {"an unlisted code", [](bh_call*) -> bh_status { return 77; }, BH_INTERNAL, "plugin_misuse",
     "77"},
    {"a negative code", [](bh_call*) -> bh_status { return -1; }, BH_INTERNAL, "plugin_misuse",
     "-1"},
    {"an unlisted code with a record", [](bh_call* c) { return say_fail(c, 77, "my own words"); },
     BH_INTERNAL, "plugin_misuse", "my own words"},
    {"one code recorded, another returned",
     [](bh_call* c) -> bh_status {
       (void)say_fail(c, BH_NOT_FOUND, "words");
       return BH_ABORTED;
     },
     BH_ABORTED, "", "words"},
    {"the first of two results counts",
     [](bh_call* c) -> bh_status {
       (void)say_result(c, "1");
       return say_result(c, "2") == BH_INTERNAL ? BH_OK : BH_UNKNOWN;
     },
     BH_OK, "", "1"},
    {"a second result that is handed on",
     [](bh_call* c) {
       (void)say_result(c, "1");
       return say_result(c, "2");
     },
     BH_INTERNAL, "plugin_misuse", "second result"},
    {"a result that is no JSON", [](bh_call* c) { return say_result(c, "{nope"); }, BH_INTERNAL,
     "plugin_misuse", ""},
    {"an empty result", [](bh_call* c) { return say_result(c, ""); }, BH_INTERNAL, "plugin_misuse",
     ""},
    {"a result with bytes that are no UTF-8",
     [](bh_call* c) { return say_result(c, "\"\xff\""); }, BH_INTERNAL, "plugin_misuse", ""},
    {"a NULL result with a length", [](bh_call* c) { return c->api->result(c, nullptr, 5); },
     BH_INTERNAL, "plugin_misuse", ""},
    {"details that are no object are left out",
     [](bh_call* c) { return say_fail(c, BH_ABORTED, "words", "[1"); }, BH_ABORTED, "", "words"},
    {"a text that is no UTF-8 is repaired",
     [](bh_call* c) { return say_fail(c, BH_ABORTED, "a\xff z"); }, BH_ABORTED, "",
     "a\xEF\xBF\xBD z"},
    {"a NULL text", [](bh_call* c) { return c->api->fail(c, BH_ABORTED, nullptr, 9, nullptr, 9); },
     BH_ABORTED, "", ""},
    {"an item that is no JSON",
     [](bh_call* c) { return c->api->item(c, "nope", 4); }, BH_INTERNAL, "plugin_misuse", ""},
    {"attach without a blob", [](bh_call* c) { return c->api->attach(c, nullptr); }, BH_INTERNAL,
     "plugin_misuse", ""},
    {"receive without a buffer",
     [](bh_call* c) { return c->api->receive(c, nullptr, 1, nullptr); }, BH_INTERNAL,
     "plugin_misuse", ""},
    {"no operations without needs",
     [](bh_call* c) -> bh_status {
       return operations_of(c) == nullptr ? say_result(c, "\"none\"") : BH_UNKNOWN;
     },
     BH_OK, "", "\"none\""},
    {"no service of a NULL or unknown name",
     [](bh_call* c) -> bh_status {
       bool none = c->api->get_service(c, nullptr) == nullptr &&
                   c->api->get_service(c, "org.example.none/1") == nullptr;
       return none ? say_result(c, "true") : BH_UNKNOWN;
     },
     BH_OK, "", "true"},
};

}  // namespace

TEST_CASE("what a plugin's function comes to") {
  EngineHost host;
  const Ending* now = nullptr;
  host.add("t.plugin", [&](Call& call) { return as_plugin(call, now->function); });
  for (const Ending& ending : kEndings) {
    INFO(ending.what);
    now = &ending;
    auto out = host.run("t.plugin");
    if (ending.code == BH_OK) {
      CHECK(out.last == BH_EVENT_RESULT);
      CHECK(out.result == ending.result_or_text);
      continue;
    }
    CHECK(out.last == BH_EVENT_FAULT);
    CHECK(out.fault.code == ending.code);
    CHECK(out.reason() == ending.reason);
    CHECK(out.fault.message.find(ending.result_or_text) != std::string::npos);
    if (!out.fault.details.empty()) CHECK(bh::json::parse_object(out.fault.details));
  }
}

TEST_CASE("a result of 8 MiB passes, a larger one is refused") {
  EngineHost host;
  std::size_t size = 0;
  host.add("t.size", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) {
      std::string json = "\"" + std::string(size - 2, 'x') + "\"";
      return say_result(c, json);
    });
  });
  size = bh::kMaxResult;
  CHECK(host.run("t.size").result.size() == bh::kMaxResult);
  size = bh::kMaxResult + 1;
  auto out = host.run("t.size");
  CHECK(out.last == BH_EVENT_FAULT);
  CHECK(out.fault.message.find("8 MiB") != std::string::npos);
}

TEST_CASE("an attachment of 64 MiB comes whole, a larger one in pieces") {
  EngineHost host;
  std::size_t size = 0;
  std::string bytes(bh::kMaxAttachment + 100'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 4093) bytes[i] = static_cast<char>('a' + i % 26);
  host.add("t.size", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) {
      bh_blob blob{};
      blob.struct_size = sizeof blob;
      blob.name = {"n", 1};
      blob.media_type = {"a/b", 3};
      blob.data = bytes.data();
      blob.size = size;
      if (bh_status st = c->api->attach(c, &blob)) return st;
      return c->api->attach(c, &blob);
    });
  });
  size = bh::kMaxAttachment;
  auto whole = host.run("t.size");
  CHECK(whole.attachments.size() == 2);
  CHECK(whole.output.empty());

  size = bytes.size();
  auto run = host.start("t.size");
  REQUIRE(run);
  std::vector<int> streams;
  std::string got;
  std::size_t largest = 0;
  int ends = 0;
  bool good = true, ended = false;
  while (!ended) {
    auto event = host.queue->next(kPatience);
    REQUIRE(event);
    if (event->kind == BH_EVENT_ATTACHMENT) {
      good = good && event->data.empty() && event->name == "n" && event->type == "a/b";
      streams.push_back(event->stream);
      got.clear();
    } else if (event->kind == BH_EVENT_OUTPUT) {
      good = good && !streams.empty() && event->stream == streams.back();
      largest = std::max(largest, event->data.size());
      got += event->data;
      if (event->data.empty()) {
        ends++;
        good = good && got == bytes;
      }
    } else {
      ended = event->kind == BH_EVENT_RESULT;
      REQUIRE(event->kind != BH_EVENT_FAULT);
    }
  }
  CHECK(good);
  CHECK(ends == 2);
  REQUIRE(streams.size() == 2);
  CHECK(streams[0] >= BH_STREAM_ATTACHED);
  CHECK(streams[0] != streams[1]);
  CHECK(largest <= bh::kChunk);

  // Unread, it waits: no more than the room is held.
  run = host.start("t.size", host.options(2));
  REQUIRE(run);
  std::size_t held = 0;
  std::vector<std::unique_ptr<Event>> kept;
  while (auto event = host.queue->next(300)) {
    held += event->data.size();
    kept.push_back(std::move(event));
  }
  CHECK(held > bh::kRoom / 2);
  CHECK(held <= bh::kRoom);
  run->cancel();
  CHECK(host.finish(2).fault.code == BH_CANCELLED);

  // Nobody reads while bh_do goes on.
  auto here = host.options(3);
  here.on_callers_thread = true;
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.size"),
                                std::make_shared<bh::RequestBody>(), std::move(here)));
  auto out = host.finish(3);
  CHECK(out.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(out.reason() == "attachment_too_large");
}

TEST_CASE("nobody emits on an attachment's stream") {
  EngineHost host;
  host.add("t.stray", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) { return c->api->emit(c, BH_STREAM_ATTACHED, "x", 1); });
  });
  auto out = host.run("t.stray");
  CHECK(out.reason() == "plugin_misuse");
  CHECK(out.output.empty());
}

TEST_CASE("a result before a failure becomes its partial, and the outermost counts") {
  EngineHost host;
  host.add("t.inner", [](Call& call) {
    return as_plugin(call, [](bh_call* c) {
      (void)say_result(c, R"({"inner":1})");
      return say_fail(c, BH_ABORTED, "stopped", R"({"reason":"lost"})");
    });
  });
  host.add("t.outer", [](Call& call) {
    (void)call.set_result(R"({"outer":1})");
    auto done = as_plugin(call, [](bh_call* c) {
      (void)say_result(c, R"({"inner":1})");
      return say_fail(c, BH_ABORTED, "stopped", R"({"reason":"lost","field":"/a"})");
    });
    return done;
  });
  auto inner = bh::json::parse_object(host.run("t.inner").fault.details).value();
  CHECK(bh::json::print(inner["partial"]) == R"({"inner":1})");
  auto out = host.run("t.outer");
  auto outer = bh::json::parse_object(out.fault.details).value();
  CHECK(bh::json::print(outer["partial"]) == R"({"outer":1})");
  CHECK(out.reason() == "lost");
  CHECK(out.detail("field") == "/a");
}

TEST_CASE("cancel_fd is readable after a cancel, whenever it was asked for") {
  EngineHost host;
  Gate asked;
  std::atomic<int> before{-1}, after{-1}, late{-1};
  host.add("t.fd", [&](Call& call) -> bh::Result<void> {
    (void)as_plugin(call, [&](bh_call* c) -> bh_status {
      int fd = c->api->cancel_fd(c);
      before = readable(fd);
      asked.open();
      after = readable(fd, kPatience);
      return BH_CANCELLED;
    });
    // A call that begins after the stop.
    (void)as_plugin(call, [&](bh_call* c) -> bh_status {
      late = readable(c->api->cancel_fd(c), 1500);
      return BH_CANCELLED;
    });
    return call.check();
  });
  auto run = host.start("t.fd");
  REQUIRE(run);
  REQUIRE(asked.wait());
  run->cancel();
  auto out = host.finish();
  CHECK(out.fault.code == BH_CANCELLED);
  CHECK(before.load() == 0);
  CHECK(after.load() == 1);
  CHECK(late.load() == 1);
}

TEST_CASE("deadlines: wait, cancel_fd and time_left agree") {
  EngineHost host;
  std::atomic<bh_status> waited{-1};
  std::atomic<int> fd_ready{-1};
  std::atomic<std::int64_t> left_before{-1}, left_after{-1};
  host.add("t.deadline", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) {
      left_before = c->api->time_left_ns(c);
      fd_ready = readable(c->api->cancel_fd(c), kPatience);
      waited = c->api->wait(c, INT64_MAX);
      left_after = c->api->time_left_ns(c);
      return waited.load();
    });
  });
  auto out = host.run("t.deadline", host.options(1, 200));
  CHECK(out.last == BH_EVENT_FAULT);
  CHECK(out.fault.code == BH_DEADLINE_EXCEEDED);
  CHECK(out.reason() == "deadline");
  CHECK(fd_ready.load() == 1);
  CHECK(waited.load() == BH_DEADLINE_EXCEEDED);
  CHECK(left_before.load() > 0);
  CHECK(left_before.load() <= 200'000'000);
  CHECK(left_after.load() == 0);
}

TEST_CASE("a deadline that is past at once stops the run before it starts") {
  EngineHost host;
  auto options = host.options();
  options.timeout_ns = 1;
  std::atomic<bool> ran{false};
  host.add("t.never", [&](Call&) -> bh::Result<void> {
    ran = true;
    return {};
  });
  CHECK(host.run("t.never", options).fault.code == BH_DEADLINE_EXCEEDED);
  CHECK_FALSE(ran.load());
}

TEST_CASE("no deadline: time_left is INT64_MAX, and a wait ends by its own time") {
  EngineHost host;
  std::atomic<std::int64_t> left{0};
  host.add("t.free", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) -> bh_status {
      left = c->api->time_left_ns(c);
      if (c->api->wait(c, 0) != BH_OK || c->api->wait(c, -5) != BH_OK) return BH_UNKNOWN;
      return c->api->wait(c, 1'000'000);
    });
  });
  CHECK(host.run("t.free").last == BH_EVENT_RESULT);
  CHECK(left.load() == INT64_MAX);
}

TEST_CASE("the longest time limit is no limit that overflows") {
  EngineHost host;
  auto options = host.options();
  options.timeout_ns = INT64_MAX;
  host.add("t.long", [&](Call& call) -> bh::Result<void> {
    if (call.wait(1'000'000) != BH_OK) return bh::fail(BH_ABORTED, "stopped");
    return {};
  });
  CHECK(host.run("t.long", options).last == BH_EVENT_RESULT);
}

TEST_CASE("calls side by side keep limits of their own, each with its descriptor") {
  EngineHost host;
  std::atomic<int> first{-1}, second{-1};
  host.add("t.two", [&](Call& call) -> bh::Result<void> {
    bh::NullSink nowhere;
    bh::NoInput none;
    bh::CallOptions soon, later;
    soon.timeout_ns = 100'000'000;
    later.timeout_ns = 300'000'000;
    Call a(call, nowhere, none, soon);
    Call b(call, nowhere, none, later);
    int fd_a = a.cancel_fd();
    int fd_b = b.cancel_fd();
    first = readable(fd_a, kPatience);
    second = readable(fd_b, kPatience);
    return {};
  });
  CHECK(host.run("t.two").last == BH_EVENT_RESULT);
  CHECK(first.load() == 1);
  CHECK(second.load() == 1);
}

TEST_CASE("a cleanup call runs although its run was stopped, for two seconds at most") {
  EngineHost host;
  Gate in;
  std::atomic<bh_status> outer{-1}, inner{-1}, end{-1};
  std::atomic<std::int64_t> left{-1};
  std::atomic<bool> below{false};
  host.add("t.cleanup", [&](Call& call) -> bh::Result<void> {
    in.open();
    outer = call.wait(bh::kNoLimit);
    bh::NullSink nowhere;
    bh::NoInput none;
    bh::CallOptions how;
    how.cleanup = true;
    how.timeout_ns = 60 * bh::kSecond;  // more than it can have
    Call cleanup(call, nowhere, none, how);
    inner = cleanup.stop_reason();
    left = cleanup.time_left_ns();
    Call deeper(cleanup, nowhere, none);
    below = deeper.stop_reason() == BH_OK && !readable(deeper.cancel_fd());
    end = deeper.wait(1'000'000);
    return call.check();
  });
  auto run = host.start("t.cleanup");
  REQUIRE(run);
  REQUIRE(in.wait());
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
  CHECK(outer.load() == BH_CANCELLED);
  CHECK(inner.load() == BH_OK);
  CHECK(left.load() > 0);
  CHECK(left.load() <= bh::kCleanupTime);
  CHECK(below.load());
  CHECK(end.load() == BH_OK);
}
