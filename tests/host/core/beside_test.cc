#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

bool soon(const std::function<bool()>& so) {
  for (int i = 0; i < 4000; i++) {
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("work beside the calls outlives the call that began it, in its session's name") {
  EngineHost host;
  std::atomic<bool> go{false}, done{false};
  std::atomic<int> stopped{-1};
  std::string persona;
  host.add("t.begin", [&](Call& call) -> Result<void> {
    auto run = call.engine().run_beside(call.session(), [&](Call& beside) {
      while (!go) (void)beside.wait(1'000'000);
      persona = beside.session().persona;
      stopped = beside.stop_reason();
      (void)beside.emit(1, "nobody reads this");
      done = true;
    });
    if (!run) return tl::unexpected(std::move(run).error());
    return {};
  });
  CHECK(host.run("t.begin").last == BH_EVENT_RESULT);
  go = true;
  REQUIRE(soon([&] { return done.load(); }));
  CHECK(persona == "default");
  CHECK(stopped == BH_OK);
  CHECK(host.engine->close(std::chrono::seconds(20)));
}

TEST_CASE("close stops what goes on beside the calls, and waits for it") {
  EngineHost host;
  std::atomic<int> ended{0};
  bh::Session session;
  for (int i = 0; i < 100; i++) {
    REQUIRE(host.engine->run_beside(session, [&](Call& call) {
      if (call.wait(INT64_MAX) == BH_CANCELLED) ended++;
    }));
  }
  CHECK(host.engine->close(std::chrono::seconds(20)));
  CHECK(ended == 100);
  CHECK_FALSE(host.engine->run_beside(session, [](Call&) {}));
}

TEST_CASE("what goes on beside the calls has a limit, and can be stopped one by one") {
  EngineHost host;
  std::atomic<int> ended{0};
  bh::Session session;
  std::vector<std::shared_ptr<Run>> runs;
  for (int i = 0; i < 256; i++) {
    auto run = host.engine->run_beside(session, [&](Call& call) {
      (void)call.wait(INT64_MAX);
      ended++;
    });
    REQUIRE(run);
    runs.push_back(*run);
  }
  auto more = host.engine->run_beside(session, [](Call&) {});
  REQUIRE_FALSE(more);
  CHECK(more.error().code == BH_RESOURCE_EXHAUSTED);
  runs[7]->cancel();
  REQUIRE(soon([&] { return ended == 1; }));
  CHECK(soon([&] { return host.engine->run_beside(session, [](Call&) {}).has_value(); }));
  runs.clear();
  CHECK(host.engine->close(std::chrono::seconds(20)));
  CHECK(ended == 256);
}

TEST_CASE("an exception in work beside the calls ends that work alone") {
  EngineHost host;
  bh::Session session;
  REQUIRE(host.engine->run_beside(session, [](Call&) { throw std::runtime_error("oops"); }));
  CHECK(host.engine->close(std::chrono::seconds(20)));
}
