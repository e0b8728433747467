#include "core/spin.h"

#include <sched.h>

#include <thread>

#include "support/catch.h"

TEST_CASE("a processor that the thread is kept from does not count") {
  cpu_set_t mine;
  REQUIRE(::sched_getaffinity(0, sizeof mine, &mine) == 0);
  CHECK(bh::several_processors() == (CPU_COUNT(&mine) > 1));
  int one = 0;
  while (!CPU_ISSET(one, &mine)) one++;
  cpu_set_t alone;
  CPU_ZERO(&alone);
  CPU_SET(one, &alone);
  bool kept = false, several = true;
  // Of its own: the choice holds for the thread that makes it.
  std::thread([&] {
    kept = ::sched_setaffinity(0, sizeof alone, &alone) == 0;
    several = bh::several_processors();
  }).join();
  REQUIRE(kept);
  CHECK_FALSE(several);
}
