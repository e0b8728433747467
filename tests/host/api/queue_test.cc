// Queues of a runtime that is closed.
#include <poll.h>

#include <atomic>
#include <thread>

#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Embedder;
using bh_test::Place;

namespace {

bh_status next(bh_queue* q, int32_t timeout_ms, int* kind, bh_test::Fault* why) {
  bh_event* e = nullptr;
  bh_fault* f = nullptr;
  bh_status st = bh_queue_next(q, timeout_ms, &e, &f);
  *why = bh_test::take(f);
  *kind = bh_event_kind(e);
  bh_event_free(e);
  return st;
}

}  // namespace

TEST_CASE("closing a runtime ends who waits on its queues, all of them") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_queue* queues[2] = {host.queue, nullptr};
  REQUIRE(bh_queue_new(host.runtime, &queues[1], nullptr) == BH_OK);
  bh_status said[4] = {};
  bh_test::Fault why[4];
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      int kind = 0;
      waiting++;
      // Two have a limit, so that a failure here is one and not a test that hangs.
      said[i] = next(queues[i / 2], i % 2 == 0 ? 20'000 : 30'000, &kind, &why[i]);
    });
  }
  while (waiting < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  REQUIRE(bh_runtime_close(host.runtime, 20'000, nullptr) == BH_OK);
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 4; i++) {
    CHECK(said[i] == BH_FAILED_PRECONDITION);
    CHECK(why[i].has("closed"));
  }
  // One without a limit too, and whoever polls is told.
  int kind = 0;
  CHECK(next(queues[1], -1, &kind, &why[0]) == BH_FAILED_PRECONDITION);
  pollfd fd{static_cast<int>(bh_queue_fd(queues[1])), POLLIN, 0};
  CHECK(::poll(&fd, 1, 0) == 1);
  bh_queue_wake(queues[1]);
  CHECK(next(queues[1], -1, &kind, &why[0]) == BH_FAILED_PRECONDITION);
  bh_queue_free(queues[1]);
}

TEST_CASE("what a closed runtime still had to say is given first") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_request* r = Embedder::request("log.follow", "{}");
  REQUIRE(bh_start(host.session, r, host.queue, 1, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  bh_fault* f = nullptr;
  // In no time: the run is stopped, and its last word may come after close() gave up.
  (void)bh_runtime_close(host.runtime, 0, &f);
  (void)bh_test::take(f);
  int kind = 0;
  bh_test::Fault why;
  REQUIRE(next(host.queue, 20'000, &kind, &why) == BH_OK);
  CHECK(kind == BH_EVENT_FAULT);
  CHECK(next(host.queue, 20'000, &kind, &why) == BH_FAILED_PRECONDITION);
  CHECK(why.has("closed"));
  CHECK(bh_runtime_close(host.runtime, 20'000, nullptr) == BH_OK);
}
