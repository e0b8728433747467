// Calls that do not return when they are stopped.
#include <atomic>

#include "as_plugin.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

TEST_CASE("a stuck call is answered for, its worker replaced, its late result dropped") {
  const bool by_deadline = GENERATE(false, true);
  EngineHost host(1);
  Gate in, let_go;
  std::atomic<bool> back{false};
  host.add("t.stuck", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) -> bh_status {
      in.open();
      let_go.wait(60'000);
      back = true;
      return say_result(c, "\"late\"");
    });
  });
  host.add("t.quick", [](Call& call) { return call.set_result("1"); });
  auto run = host.start("t.stuck", host.options(1, by_deadline ? 100 : 0));
  REQUIRE(run);
  REQUIRE(in.wait());
  if (!by_deadline) run->cancel();
  CHECK_FALSE(host.try_start("t.quick", host.options(2)));  // its worker is not given up yet
  auto out = host.finish();
  CHECK(out.last == BH_EVENT_FAULT);
  CHECK(out.fault.code == (by_deadline ? BH_DEADLINE_EXCEEDED : BH_CANCELLED));
  CHECK(out.reason() == "stuck");
  CHECK(run->abandoned());
  CHECK_FALSE(back.load());
  CHECK(host.run("t.quick", host.options(3)).result == "1");
  auto closed = host.engine->close(std::chrono::milliseconds(100));
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == BH_DEADLINE_EXCEEDED);
  CHECK(closed.error().details.find("stuck") != std::string::npos);
  let_go.open();
  CHECK(host.engine->close(std::chrono::seconds(10)));
  CHECK(back.load());
  CHECK_FALSE(host.queue->next(0));
}

TEST_CASE("stuck calls of the control lane get it new workers") {
  EngineHost host(1);
  Gate let_go;
  std::atomic<int> in{0};
  host.add("t.stuck", [&](Call&) -> bh::Result<void> {
    in++;
    let_go.wait(60'000);
    return {};
  }, bh::Lane::kControl);
  host.add("t.kill", [](Call& call) { return call.set_result("1"); }, bh::Lane::kControl);
  REQUIRE(host.start("t.stuck", host.options(1, 50)));
  REQUIRE(host.start("t.stuck", host.options(2, 50)));
  CHECK(host.finish(1).reason() == "stuck");
  if (host.strangers.empty()) CHECK(host.finish(2).reason() == "stuck");
  CHECK(host.run("t.kill", host.options(3)).result == "1");
  let_go.open();
}

TEST_CASE("a call that comes back within its two seconds is not given up") {
  EngineHost host(1);
  Gate in;
  host.add("t.slow", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) -> bh_status {
      in.open();
      (void)c->api->wait(c, INT64_MAX);
      bh_test::Gate never;
      (void)never.wait(300);
      return say_fail(c, BH_CANCELLED, "it was stopped", R"({"reason":"cancelled"})");
    });
  });
  auto run = host.start("t.slow");
  REQUIRE(run);
  REQUIRE(in.wait());
  run->cancel();
  CHECK(host.finish().reason() == "cancelled");
  CHECK_FALSE(run->abandoned());
}

TEST_CASE("a run on the embedder's own thread is never given up: nobody could be told") {
  EngineHost host(1);
  std::atomic<bool> finished{false};
  host.add("t.slow", [&](Call&) -> bh::Result<void> {
    Gate never;
    (void)never.wait(2500);
    finished = true;
    return {};
  });
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.slow"),
                                std::make_shared<bh::RequestBody>(), host.options(1, 50)));
  CHECK(finished.load());
  CHECK(host.finish(1, 100).last == BH_EVENT_RESULT);
}
