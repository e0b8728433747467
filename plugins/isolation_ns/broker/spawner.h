// Starts the broker's own processes with a short table of descriptors.
#pragma once

#include <bulkhead/sdk/isolation/fd.hpp>
#include <functional>
#include <vector>

namespace ns {

namespace isolation = bulkhead::sdk::isolation;

// A broker that holds thousands of descriptors would copy them all with each fork. So the child's
// are put to fixed low numbers first, the table is shared, and the child takes a copy of its start
// alone.
class Spawner {
 public:
  // Before anything else is opened: the low numbers are taken.
  bool start();

  // `fds`: borrowed, at most kMost; in the child they are at(0), at(1) … and nothing else is open
  // but 0, 1 and 2. `body`: runs in the child, its result is the exit code. -1: errno tells.
  pid_t run(const std::vector<int>& fds, const std::function<int()>& body);
  static constexpr int at(size_t i) { return kFirst + 1 + static_cast<int>(i); }

  static constexpr size_t kMost = 20;

  // Readable once the last child has its own table; -1: nothing is waited for. Until settle() is
  // called what the child was given is open here too.
  int waiting() const { return pending_ ? told_.get() : -1; }
  void settle();
  // That child is gone. One that was killed before it had its own table never says so, and what it
  // was given would stay open here: who waits for the other ends would wait for nothing.
  void ended(pid_t pid);

 private:
  // kFirst is where a child says that it has its own table.
  static constexpr int kFirst = 10;
  isolation::Fd told_, empty_;
  size_t given_ = 0;
  bool pending_ = false;
  pid_t last_ = -1;
};

}  // namespace ns
