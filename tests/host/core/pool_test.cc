#include "core/pool.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine_host.h"
#include "support/catch.h"

using bh::Pool;
using bh_test::EngineHost;
using bh_test::Gate;

namespace {

// Counts to a number and lets the main thread wait for it.
class Count {
 public:
  void add() {
    std::lock_guard lock(mutex_);
    n_++;
    changed_.notify_all();
  }
  bool reaches(int n) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(bh_test::kPatience),
                             [&] { return n_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int n_ = 0;
};

std::function<Pool::LastWord()> work_of(std::function<void()> work) {
  return [work = std::move(work)]() -> Pool::LastWord {
    work();
    return nullptr;
  };
}

}  // namespace

TEST_CASE("a pool grows to its size and then refuses, and lent places count") {
  Pool pool(3, false);
  Gate go;
  Count in;
  auto block = work_of([&] {
    in.add();
    go.wait();
  });
  for (int i = 0; i < 3; i++) REQUIRE(pool.start(block));
  REQUIRE(in.reaches(3));
  CHECK_FALSE(pool.start(block));
  pool.lend(2);
  CHECK(pool.start(block));
  CHECK(pool.start(block));
  REQUIRE(in.reaches(5));
  CHECK_FALSE(pool.start(block));
  pool.lend(-2);
  CHECK_FALSE(pool.start(block));
  go.open();
  CHECK(pool.end(std::chrono::seconds(10)));
  CHECK_FALSE(pool.start(block));
}

TEST_CASE("a pool that queues takes more than it has threads for, in order") {
  Pool pool(1, true);
  std::vector<int> order;
  Gate go;
  REQUIRE(pool.start(work_of([&] { go.wait(); })));
  for (int i = 0; i < 20; i++) REQUIRE(pool.start(work_of([&order, i] { order.push_back(i); })));
  go.open();
  REQUIRE(pool.end(std::chrono::seconds(10)));
  REQUIRE(order.size() == 20);
  for (int i = 0; i < 20; i++) CHECK(order[static_cast<std::size_t>(i)] == i);
}

namespace {

// What the work of one round uses; the last piece of it lets go.
struct Round {
  Gate go;
  Count quick, stuck, behind;
};

// Sooner or later: a thread may be about to say that it is free.
void must_start(Pool& pool, const std::function<Pool::LastWord()>& work) {
  while (!pool.start(work)) std::this_thread::yield();
}

}  // namespace

TEST_CASE("work that came in a flow of quick work waits behind none that is stuck") {
  Pool pool(16, false);
  for (int n = 0; n < 50; n++) {
    auto round = std::make_shared<Round>();
    // Enough of it, and close enough, for it to be left to the threads that are at work.
    for (int i = 0; i < 200; i++) must_start(pool, work_of([round] { round->quick.add(); }));
    for (int i = 0; i < 3; i++) {
      must_start(pool, work_of([round] {
                   round->stuck.add();
                   round->go.wait();
                 }));
      must_start(pool, work_of([round] { round->behind.add(); }));
      must_start(pool, work_of([round] { round->behind.add(); }));
    }
    CHECK(round->quick.reaches(200));
    CHECK(round->stuck.reaches(3));
    CHECK(round->behind.reaches(6));
    round->go.open();
  }
  CHECK(pool.end(std::chrono::milliseconds(bh_test::kPatience)));
}

TEST_CASE("with all places taken nothing more is taken, also in a flow of quick work") {
  Pool pool(2, false);
  for (int n = 0; n < 200; n++) {
    auto round = std::make_shared<Round>();
    for (int i = 0; i < 20; i++) must_start(pool, work_of([round] { round->quick.add(); }));
    CHECK(round->quick.reaches(20));
    auto block = work_of([round] {
      round->stuck.add();
      round->go.wait();
    });
    for (int i = 0; i < 2; i++) must_start(pool, block);
    CHECK_FALSE(pool.start(block));
    CHECK(round->stuck.reaches(2));
    CHECK_FALSE(pool.start(block));
    round->go.open();
  }
  CHECK(pool.end(std::chrono::milliseconds(bh_test::kPatience)));
}

TEST_CASE("a place is free by the time that the last word is said") {
  Pool pool(1, false);
  std::atomic<int> refused{0};
  Count done;
  std::function<Pool::LastWord()> again = [&]() -> Pool::LastWord {
    return [&] {
      done.add();
    };
  };
  for (int i = 1; i <= 200; i++) {
    if (!pool.start(again)) refused++;
    REQUIRE(done.reaches(i - refused.load()));
  }
  CHECK(refused.load() == 0);
}

TEST_CASE("with one worker the next call can start when the last has ended") {
  EngineHost host(1);
  host.add("t.quick", [](bh::Call& call) { return call.set_result("1"); });
  for (int i = 0; i < 200; i++) {
    INFO(i);
    auto run = host.try_start("t.quick", host.options());
    REQUIRE(run);
    REQUIRE(host.finish().result == "1");
  }
}

TEST_CASE("a full house refuses with pool_full, the control lane goes on") {
  EngineHost host(2);
  Gate go;
  Count in;
  host.add("t.block", [&](bh::Call&) -> bh::Result<void> {
    in.add();
    go.wait();
    return {};
  });
  host.add("t.kill", [](bh::Call& call) { return call.set_result("\"killed\""); },
           bh::Lane::kControl);
  REQUIRE(host.start("t.block", host.options(1)));
  REQUIRE(host.start("t.block", host.options(2)));
  REQUIRE(in.reaches(2));
  auto third = host.try_start("t.block", host.options(3));
  REQUIRE_FALSE(third);
  CHECK(third.error().code == BH_RESOURCE_EXHAUSTED);
  CHECK(third.error().details.find("pool_full") != std::string::npos);
  for (int i = 0; i < 10; i++) CHECK(host.run("t.kill", host.options(9)).result == "\"killed\"");
  go.open();
  CHECK(host.finish(2).last == BH_EVENT_RESULT);
}

TEST_CASE("a refused start leaves nothing that close would wait for") {
  EngineHost host(1);
  Gate go;
  Count in;
  host.add("t.block", [&](bh::Call& call) -> bh::Result<void> {
    in.add();
    (void)call.wait(bh::kNoLimit);
    return {};
  });
  REQUIRE(host.start("t.block"));
  REQUIRE(in.reaches(1));
  REQUIRE_FALSE(host.try_start("t.block", host.options(2)));
  CHECK(host.engine->close(std::chrono::seconds(10)));
}

TEST_CASE("workers have all signals blocked but those of their own faults") {
  EngineHost host;
  std::atomic<int> wrong{0};
  host.add("t.mask", [&](bh::Call&) -> bh::Result<void> {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    for (int s : {SIGINT, SIGTERM, SIGCHLD, SIGHUP, SIGUSR1, SIGPIPE, SIGALRM, SIGWINCH}) {
      if (sigismember(&mask, s) != 1) wrong++;
    }
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      if (sigismember(&mask, s) != 0) wrong++;
    }
    return {};
  });
  REQUIRE(host.run("t.mask").last == BH_EVENT_RESULT);
  CHECK(wrong.load() == 0);
}

TEST_CASE("run_here blocks signals for its time and gives the thread its mask back") {
  EngineHost host;
  std::atomic<int> inside{-1};
  host.add("t.mask", [&](bh::Call&) -> bh::Result<void> {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    inside = sigismember(&mask, SIGTERM);
    return {};
  });
  REQUIRE(host.engine->run_here(host.session, *host.catalogue.find("t.mask"),
                                std::make_shared<bh::RequestBody>(), host.options()));
  CHECK(inside.load() == 1);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGTERM) == 0);
}

TEST_CASE("a worker's stack is one mebibyte at least") {
  EngineHost host;
  std::atomic<std::size_t> size{0};
  host.add("t.stack", [&](bh::Call&) -> bh::Result<void> {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    std::size_t bytes = 0;
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    size = bytes;
    return {};
  });
  REQUIRE(host.run("t.stack").last == BH_EVENT_RESULT);
  CHECK(size.load() >= 1u << 20);
}

TEST_CASE("256 runs go on at once where there are as many workers") {
  EngineHost host(256);
  Gate go;
  Count in;
  host.add("t.block", [&](bh::Call& call) -> bh::Result<void> {
    in.add();
    go.wait();
    return call.set_result("1");
  });
  for (std::uint64_t i = 0; i < 256; i++) REQUIRE(host.start("t.block", host.options(i)));
  REQUIRE(in.reaches(256));
  CHECK_FALSE(host.try_start("t.block", host.options(999)));
  go.open();
  int ended = 0;
  while (ended < 256) {
    auto event = host.queue->next(bh_test::kPatience);
    REQUIRE(event);
    CHECK(event->kind == BH_EVENT_RESULT);
    ended++;
  }
}
