// A lock that calls wait for only as long as they may: for what takes long, such as opening a
// provider, where a waiter's cancellation or deadline has to end its waiting.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "core/call.h"

namespace bh {

// All [any]. Outlives what it handed out.
class CallLock {
 public:
  struct Release {
    void operator()(CallLock* lock) const { lock->release(); }
  };
  using Held = std::unique_ptr<CallLock, Release>;

  CallLock() = default;
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;

  // CANCELLED or DEADLINE_EXCEEDED when `call` has a reason to stop first. Not recursive. [blocking]
  Result<Held> take(Call& call);

 private:
  void release();

  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

}  // namespace bh
