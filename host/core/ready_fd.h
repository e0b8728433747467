// A file descriptor that is readable while something is so. Made on first use: a call that nobody
// polls costs no descriptor.
#pragma once

#include <bulkhead/base.h>

#include <mutex>

#include "base/fd.h"

namespace bh {

class ReadyFd {
 public:
  // -1 where the process has no descriptor left. [any]
  bh_fd get();
  // [any]
  void set(bool ready);
  // Tells who waits for the edge and not the level, where it is ready already. [any]
  void again();

 private:
  std::mutex mutex_;
  Fd fd_;
  bool ready_ = false;
};

}  // namespace bh
