#include "core/run.h"

#include <atomic>

#include "engine_host.h"
#include "support/catch.h"

using bh_test::EngineHost;
using bh_test::Gate;

TEST_CASE("a run ends with its result, or with null where it gave none") {
  EngineHost host;
  host.add("t.result", [](bh::Call& call) { return call.set_result(R"({"a":1})"); });
  host.add("t.nothing", [](bh::Call&) -> bh::Result<void> { return {}; });
  auto one = host.run("t.result");
  CHECK(one.last == BH_EVENT_RESULT);
  CHECK(one.result == R"({"a":1})");
  auto two = host.run("t.nothing");
  CHECK(two.last == BH_EVENT_RESULT);
  CHECK(two.result == "null");
}

TEST_CASE("a run that throws inside the host ends with a fault") {
  EngineHost host;
  host.add("t.throws", [](bh::Call&) -> bh::Result<void> { throw std::runtime_error("oh"); });
  host.add("t.memory", [](bh::Call&) -> bh::Result<void> { throw std::bad_alloc(); });
  auto one = host.run("t.throws");
  CHECK(one.fault.code == BH_INTERNAL);
  CHECK(one.reason() == "exception");
  auto two = host.run("t.memory");
  CHECK(two.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(two.reason() == "memory");
}

TEST_CASE("output is split into pieces of 64 KiB and keeps its order") {
  EngineHost host;
  std::string bytes(200 * 1024, 'x');
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<char>('a' + i % 23);
  host.add("t.emit", [&](bh::Call& call) -> bh::Result<void> {
    (void)call.emit(2, bytes);
    (void)call.emit(1, "end");
    return {};
  });
  auto out = host.run("t.emit");
  REQUIRE(out.last == BH_EVENT_RESULT);
  REQUIRE(out.output.size() == 5);
  for (std::size_t i = 0; i < 3; i++) CHECK(out.output[i].second.size() == 64 * 1024);
  CHECK(out.output[3].second.size() == 8 * 1024);
  CHECK(out.output[0].first == 2);
  CHECK(out.output[4].first == 1);
  CHECK(out.text() == bytes + "end");
}

TEST_CASE("emitting nothing makes no event") {
  EngineHost host;
  host.add("t.none", [](bh::Call& call) -> bh::Result<void> {
    (void)call.emit(1, "");
    return {};
  });
  CHECK(host.run("t.none").output.empty());
}

TEST_CASE("a run with a mebibyte of events waits, until events are freed and not only taken") {
  EngineHost host;
  std::atomic<int> emitted{0};
  host.add("t.flood", [&](bh::Call& call) -> bh::Result<void> {
    std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 64; i++) {
      if (call.emit(1, piece) != BH_OK) break;
      emitted++;
    }
    return {};
  });
  host.add("t.other", [](bh::Call& call) { return call.set_result("1"); });
  auto run = host.start("t.flood");
  REQUIRE(run);
  std::vector<std::unique_ptr<bh::Event>> held;
  while (auto event = host.queue->next(500)) held.push_back(std::move(event));
  const int full = emitted.load();
  CHECK(full >= 14);
  CHECK(full <= 16);
  CHECK(static_cast<int>(held.size()) == full);
  // Others go on meanwhile.
  CHECK(host.run("t.other", host.options(2)).result == "1");
  CHECK(host.strangers.empty());
  CHECK(emitted.load() == full);
  held.erase(held.begin());
  auto event = host.queue->next(bh_test::kPatience);
  REQUIRE(event);
  CHECK(event->kind == BH_EVENT_OUTPUT);
  event.reset();
  held.clear();
  auto rest = host.finish();
  CHECK(rest.last == BH_EVENT_RESULT);
  CHECK(emitted.load() == 64);
}

TEST_CASE("what is larger than the whole room passes alone") {
  EngineHost host;
  host.add("t.large", [](bh::Call& call) -> bh::Result<void> {
    std::string large(3 << 20, 'x');
    (void)call.attach({"a", "text/plain", large});
    (void)call.attach({"b", "text/plain", large});
    return {};
  });
  auto out = host.run("t.large");
  REQUIRE(out.last == BH_EVENT_RESULT);
  REQUIRE(out.attachments.size() == 2);
  CHECK(out.attachments[0].size() == std::string("a|text/plain|").size() + (3 << 20));
}

TEST_CASE("items are never dropped, progress is, before it takes the room of output") {
  EngineHost host;
  Gate full;
  std::atomic<int> sent{0};
  host.add("t.items", [](bh::Call& call) -> bh::Result<void> {
    std::string item = "\"" + std::string(8000, 'x') + "\"";
    for (int i = 0; i < 500; i++) (void)call.item(item);
    return {};
  });
  host.add("t.progress", [&](bh::Call& call) -> bh::Result<void> {
    std::string note = "\"" + std::string(8000, 'x') + "\"";
    for (int i = 0; i < 500; i++) {
      call.event(note);
      sent++;
    }
    full.open();
    return {};
  });
  CHECK(host.run("t.items").items.size() == 500);
  REQUIRE(host.start("t.progress"));
  REQUIRE(full.wait());  // nobody read, and it did not wait
  auto out = host.finish();
  CHECK(out.last == BH_EVENT_RESULT);
  CHECK(sent.load() == 500);
  CHECK(out.progress.size() >= 50);
  CHECK(out.progress.size() <= 66);  // half a mebibyte
}

TEST_CASE("cancel ends a call that waits for its reader") {
  EngineHost host;
  std::atomic<int> said{-1};
  host.add("t.flood", [&](bh::Call& call) -> bh::Result<void> {
    std::string piece(64 * 1024, 'x');
    bh_status st = BH_OK;
    while (st == BH_OK) st = call.emit(1, piece);
    said = st;
    return tl::unexpected(bh::stop_error(st));
  });
  auto run = host.start("t.flood");
  REQUIRE(run);
  REQUIRE(host.queue->next(bh_test::kPatience));
  run->cancel();
  auto out = host.finish();
  CHECK(out.last == BH_EVENT_FAULT);
  CHECK(out.fault.code == BH_CANCELLED);
  CHECK(out.reason() == "cancelled");
  CHECK(said.load() == BH_CANCELLED);
}

TEST_CASE("a cancel before the worker comes to it keeps the operation from running") {
  EngineHost host(1);
  Gate go;
  std::atomic<bool> ran{false};
  host.add("t.block", [&](bh::Call&) -> bh::Result<void> {
    go.wait();
    return {};
  }, bh::Lane::kControl);
  host.add("t.late", [&](bh::Call&) -> bh::Result<void> {
    ran = true;
    return {};
  }, bh::Lane::kControl);
  // The control lane has two workers; what comes third waits for one.
  REQUIRE(host.start("t.block", host.options(10)));
  REQUIRE(host.start("t.block", host.options(11)));
  auto late = host.start("t.late", host.options(12));
  REQUIRE(late);
  late->cancel();
  go.open();
  auto out = host.finish(12);
  CHECK(out.fault.code == BH_CANCELLED);
  CHECK_FALSE(ran.load());
}

TEST_CASE("a cancel after the end changes nothing") {
  EngineHost host;
  host.add("t.quick", [](bh::Call& call) { return call.set_result("1"); });
  auto run = host.start("t.quick");
  REQUIRE(run);
  CHECK(host.finish().result == "1");
  run->cancel();
  run->cancel();
  CHECK(run->finished());
  CHECK_FALSE(host.queue->next(50));
}

TEST_CASE("run_here leaves its events in the queue without a limit of room") {
  EngineHost host;
  host.add("t.flood", [](bh::Call& call) -> bh::Result<void> {
    std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 64; i++) {
      if (call.emit(1, piece) != BH_OK) break;
    }
    return call.set_result("true");
  });
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.flood"),
                                std::make_shared<bh::RequestBody>(), host.options(5)));
  auto out = host.finish(5, 0 + 1000);
  CHECK(out.result == "true");
  CHECK(out.text().size() == 4u << 20);
}

TEST_CASE("a closed queue takes the events, and the room comes back") {
  EngineHost host;
  std::atomic<int> emitted{0};
  host.add("t.flood", [&](bh::Call& call) -> bh::Result<void> {
    std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 64; i++) {
      if (call.emit(1, piece) != BH_OK) break;
      emitted++;
    }
    return {};
  });
  auto options = host.options();
  options.queue = std::make_shared<bh::EventQueue>();
  options.queue->close();
  REQUIRE(host.start("t.flood", options));
  REQUIRE(host.engine->close(std::chrono::seconds(10)));
  CHECK(emitted.load() >= 0);
}

TEST_CASE("an engine that is closed or closing starts nothing") {
  EngineHost host;
  host.add("t.quick", [](bh::Call& call) { return call.set_result("1"); });
  REQUIRE(host.engine->close(std::chrono::seconds(10)));
  auto run = host.try_start("t.quick", host.options());
  REQUIRE_FALSE(run);
  CHECK(run.error().code == BH_FAILED_PRECONDITION);
  CHECK(run.error().details.find("\"closed\"") != std::string::npos);
  CHECK(host.engine->close(std::chrono::seconds(1)));
}

TEST_CASE("close ends what is going on") {
  EngineHost host;
  host.add("t.wait", [](bh::Call& call) -> bh::Result<void> {
    return tl::unexpected(bh::stop_error(call.wait(bh::kNoLimit)));
  });
  for (std::uint64_t i = 0; i < 5; i++) REQUIRE(host.start("t.wait", host.options(i)));
  REQUIRE(host.engine->close(std::chrono::seconds(10)));
  for (std::uint64_t i = 0; i < 5; i++) {
    auto event = host.queue->next(0);
    REQUIRE(event);
    CHECK(event->kind == BH_EVENT_FAULT);
    CHECK(event->fault.code == BH_CANCELLED);
  }
}

TEST_CASE("an operation with a faulty schema is refused by its name when it is called, by every caller") {
  bh::Catalogue catalogue;
  bh::OperationSpec spec;
  spec.name = "broken.one";
  spec.args_schema = R"({"type":"object","properties":{"a":{"no_such_keyword":1}}})";
  catalogue.add(std::move(spec));
  const auto* entry = catalogue.find("broken.one");
  REQUIRE(entry != nullptr);
  for (int i = 0; i < 2; i++) {
    auto checked = bh::checked_arguments(*entry, "{}");
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == BH_INTERNAL);
    CHECK(checked.error().message.find("broken.one") != std::string::npos);
    CHECK(checked.error().message.find("no_such_keyword") != std::string::npos);
  }
}
