// Waiting a moment for another thread without going to sleep, where the last such wait was short: to
// sleep and be woken takes longer than most hand-offs.
#pragma once

#include <sched.h>

#include <cstdint>
#include <mutex>
#include <thread>

#include "core/clock.h"

namespace bh {

inline void spin_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// More than one that the calling thread may run on: those it was kept from (taskset, a cpuset) do not
// help.
inline bool several_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 1;
  // There are more than such a set can tell.
  return std::thread::hardware_concurrency() > 1;
}

// For a mutex that is held for less time than it takes to sleep until it is free.
inline std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  for (int i = 0; i < 50; i++) {
    if (mutex.try_lock()) return std::unique_lock(mutex, std::adopt_lock);
    spin_pause();
  }
  return std::unique_lock(mutex);
}

// One side of a hand-off; guarded by its owner's mutex but for spin().
class Patience {
 public:
  // How long the next wait may spin; 0: not at all.
  std::int64_t spin_ns() const { return spin_ns_; }
  // How long the last one took, asleep or not.
  void note(std::int64_t waited_ns) { spin_ns_ = several_cores() && waited_ns < kMost ? kMost : 0; }

  // Without the mutex. True: `there` became so.
  template <class There>
  static bool spin(std::int64_t ns, There there) {
    const std::int64_t begun = monotonic_ns();
    for (;;) {
      for (int i = 0; i < 32; i++) {
        if (there()) return true;
        spin_pause();
      }
      const std::int64_t spent = monotonic_ns() - begun;
      if (spent > ns) return false;
      // The one waited for may be on this very processor, behind us.
      if (spent > kAlone) ::sched_yield();
    }
  }

 private:
  // With one core nothing comes while we spin.
  static bool several_cores() {
    static const bool several = several_processors();
    return several;
  }
  // Longer than two threads take that wake each other from sleep, so that they come out of that; and as
  // long as what counts as short, or all but the shortest of those waits would spin in vain.
  static constexpr std::int64_t kMost = 60'000;
  static constexpr std::int64_t kAlone = 6'000;
  std::int64_t spin_ns_ = 0;
};

}  // namespace bh
