// bulkhead/sdk/isolation/cgroup_keep.hpp - the control groups of commands that are over, kept for a
// moment for the next command of the same sandbox: in v1 it takes five groups and the five around them,
// and making and removing them costs as much as starting a program.
#ifndef BULKHEAD_SDK_ISOLATION_CGROUP_KEEP_HPP
#define BULKHEAD_SDK_ISOLATION_CGROUP_KEEP_HPP

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "cgroup.hpp"

namespace bulkhead::sdk::isolation {

// Groups are memory of the kernel's, so few are kept, and none of a sandbox that has been idle for
// longer than kLongest, as far as anything is called at all. [any]
class KeptGroups {
 public:
  struct Pair {
    Cgroup sandbox;
    Cgroup command;  // !used(): only the sandbox's was kept
  };

  KeptGroups() = default;
  KeptGroups(const KeptGroups&) = delete;
  KeptGroups& operator=(const KeptGroups&) = delete;
  ~KeptGroups() {
    for (const Kept& one : all_) remove(one.pair);
  }

  // One of that sandbox's, to be renew()ed; it is the caller's again.
  std::optional<Pair> take(const std::string& sandbox) {
    std::list<Kept> over;
    std::optional<Pair> out;
    {
      const std::lock_guard lock(m_);
      for (auto it = all_.begin(); it != all_.end(); ++it) {
        if (it->id != sandbox) continue;
        out = it->pair;
        all_.erase(it);
        break;
      }
      take_old(over);
    }
    for (const Kept& one : over) remove(one.pair);
    return out;
  }
  // Nothing is in it any more.
  void give(const std::string& sandbox, Pair pair) {
    std::list<Kept> over;
    {
      const std::lock_guard lock(m_);
      all_.push_front({sandbox, std::move(pair), Clock::now()});
      take_old(over);
      while (all_.size() > kMost) over.splice(over.end(), all_, std::prev(all_.end()));
    }
    for (const Kept& one : over) remove(one.pair);
  }
  // Who destroys a sandbox removes its groups by name.
  void forget(std::string_view sandbox) {
    const std::lock_guard lock(m_);
    all_.remove_if([&](const Kept& one) { return one.id == sandbox; });
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMost = 16;
  static constexpr std::chrono::seconds kLongest{10};
  struct Kept {
    std::string id;
    Pair pair;
    Clock::time_point since;
  };

  // With the lock held; the newest come first.
  void take_old(std::list<Kept>& over) {
    const auto now = Clock::now();
    while (!all_.empty() && all_.back().since + kLongest < now) {
      over.splice(over.end(), all_, std::prev(all_.end()));
    }
  }
  static void remove(const Pair& pair) {
    if (pair.command.used()) (void)pair.command.remove();
    pair.sandbox.remove_if_empty();
  }

  std::mutex m_;
  std::list<Kept> all_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_CGROUP_KEEP_HPP
