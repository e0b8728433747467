#include "core/queue.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine_host.h"
#include "support/catch.h"

namespace {

std::unique_ptr<bh::Event> event_of(std::uint64_t tag) {
  return std::make_unique<bh::Event>(BH_EVENT_ITEM, tag);
}

}  // namespace

TEST_CASE("events come out in the order in which they went in") {
  bh::EventQueue queue;
  for (std::uint64_t i = 0; i < 100; i++) queue.push(event_of(i));
  for (std::uint64_t i = 0; i < 100; i++) {
    auto event = queue.next(0);
    REQUIRE(event);
    CHECK(event->tag == i);
  }
  CHECK_FALSE(queue.next(0));
}

TEST_CASE("an empty queue answers null after its time") {
  bh::EventQueue queue;
  CHECK_FALSE(queue.next(0));
  CHECK_FALSE(queue.next(20));
}

TEST_CASE("the descriptor is readable as long as there is something, not once for each") {
  bh::EventQueue queue;
  queue.push(event_of(1));  // before the descriptor is made
  const int fd = queue.fd();
  REQUIRE(fd >= 0);
  CHECK(bh_test::readable(fd));
  CHECK(bh_test::readable(fd));
  queue.push(event_of(2));
  REQUIRE(queue.next(0));
  CHECK(bh_test::readable(fd));
  REQUIRE(queue.next(0));
  CHECK_FALSE(bh_test::readable(fd));
  queue.push(event_of(3));
  CHECK(bh_test::readable(fd));
  CHECK(queue.fd() == fd);
}

TEST_CASE("a wake ends one next, the coming one too, and events stay") {
  bh::EventQueue queue;
  const int fd = queue.fd();
  queue.wake();
  CHECK(bh_test::readable(fd));
  queue.push(event_of(1));
  CHECK_FALSE(queue.next(bh_test::kPatience));
  CHECK(queue.next(bh_test::kPatience));
  CHECK_FALSE(bh_test::readable(fd));
}

TEST_CASE("a wake from another thread ends a next without a limit") {
  bh::EventQueue queue;
  std::thread other([&] { queue.wake(); });
  CHECK_FALSE(queue.next(-1));
  other.join();
}

TEST_CASE("a push from another thread ends a next without a limit") {
  bh::EventQueue queue;
  std::thread other([&] { queue.push(event_of(7)); });
  auto event = queue.next(-1);
  other.join();
  REQUIRE(event);
  CHECK(event->tag == 7);
}

TEST_CASE("two that wait: what came is taken, whichever of them was told") {
  bh::EventQueue queue;
  std::atomic<int> taken{0};
  std::atomic<bool> over{false};
  auto take = [&] {
    while (!over) {
      (void)queue.next(-1);
      taken++;
    }
  };
  std::thread one(take), two(take);
  // In quick turns, so that now and then one of them has not gone to sleep when both come.
  bool lost = false;
  for (int i = 1; i <= 2000 && !lost; i++) {
    queue.push(event_of(1));
    queue.wake();
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(bh_test::kPatience);
    while (taken < 2 * i && !lost) {
      std::this_thread::yield();
      lost = std::chrono::steady_clock::now() > until;
    }
  }
  over = true;
  queue.wake();
  queue.wake();
  one.join();
  two.join();
  CHECK_FALSE(lost);
}

TEST_CASE("a closed queue drops what is there and what still comes") {
  bh::EventQueue queue;
  const int fd = queue.fd();
  queue.push(event_of(1));
  queue.close();
  CHECK(queue.closed());
  queue.push(event_of(2));
  CHECK_FALSE(queue.next(0));
  CHECK_FALSE(bh_test::readable(fd));
}

TEST_CASE("many threads take each event once") {
  bh::EventQueue queue;
  std::atomic<int> taken{0};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; i++) {
    readers.emplace_back([&] {
      while (auto event = queue.next(-1)) {
        taken++;
        sum += event->tag;
      }
    });
  }
  for (std::uint64_t i = 1; i <= 1000; i++) queue.push(event_of(i));
  // The wakes come behind nothing: they win over events, so the queue has to be empty first.
  while (taken.load() < 1000) std::this_thread::yield();
  for (int i = 0; i < 4; i++) queue.wake();
  for (auto& reader : readers) reader.join();
  CHECK(taken.load() == 1000);
  CHECK(sum.load() == 500500);
}

TEST_CASE("a queue that has ended gives what is there and then waits no longer") {
  bh::EventQueue queue;
  const int fd = queue.fd();
  CHECK_FALSE(queue.over());
  std::thread other([&] { queue.end(); });
  CHECK_FALSE(queue.next(-1));
  other.join();
  CHECK(queue.over());
  queue.push(event_of(1));
  CHECK_FALSE(queue.over());
  CHECK(queue.next(-1));
  CHECK_FALSE(queue.next(-1));
  CHECK(bh_test::readable(fd));
}

TEST_CASE("a wake is an edge of the descriptor's, also where it is readable already") {
  bh::EventQueue queue;
  const int fd = queue.fd();
  const int poller = ::epoll_create1(EPOLL_CLOEXEC);
  REQUIRE(poller >= 0);
  epoll_event want{EPOLLIN | EPOLLET, {}}, seen{};
  REQUIRE(::epoll_ctl(poller, EPOLL_CTL_ADD, fd, &want) == 0);
  queue.end();
  CHECK(::epoll_wait(poller, &seen, 1, 0) == 1);
  CHECK(::epoll_wait(poller, &seen, 1, 0) == 0);
  queue.wake();
  CHECK(::epoll_wait(poller, &seen, 1, 0) == 1);
  ::close(poller);
}

TEST_CASE("however often it was woken, its descriptor is quiet when all was taken") {
  bh::EventQueue queue;
  const int fd = queue.fd();
  for (int i = 0; i < 3; i++) queue.wake();
  for (int i = 0; i < 3; i++) CHECK_FALSE(queue.next(bh_test::kPatience));
  CHECK_FALSE(bh_test::readable(fd));
}
