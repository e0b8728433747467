#include "core/call_lock.h"

#include <atomic>

#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

TEST_CASE("waiting for a call lock ends with the waiter, or with its turn") {
  EngineHost host;
  bh::CallLock lock;
  Gate holds, let_go;
  std::atomic<int> had{0};
  host.add("t.hold", [&](Call& call) -> bh::Result<void> {
    auto held = lock.take(call);
    if (!held) return tl::unexpected(std::move(held).error());
    holds.open();
    (void)let_go.wait();
    return {};
  });
  host.add("t.want", [&](Call& call) -> bh::Result<void> {
    auto held = lock.take(call);
    if (!held) return tl::unexpected(std::move(held).error());
    had++;
    return {};
  });
  REQUIRE(host.start("t.hold"));
  REQUIRE(holds.wait());
  CHECK(host.run("t.want", host.options(2, 100)).fault.code == BH_DEADLINE_EXCEEDED);
  auto cancelled = host.start("t.want", host.options(3));
  REQUIRE(cancelled);
  CHECK_FALSE(host.queue->next(100));
  cancelled->cancel();
  CHECK(host.finish(3).fault.code == BH_CANCELLED);
  CHECK(had == 0);
  REQUIRE(host.start("t.want", host.options(4)));
  CHECK_FALSE(host.queue->next(100));
  let_go.open();
  CHECK(host.finish(1).last == BH_EVENT_RESULT);
  // The two end in any order: finish(1) keeps what belongs to others.
  if (host.strangers.empty()) {
    CHECK(host.finish(4).last == BH_EVENT_RESULT);
  } else {
    CHECK(host.strangers.back()->kind == BH_EVENT_RESULT);
  }
  CHECK(had == 1);
}
