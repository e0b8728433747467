#include "core/call_lock.h"

#include <chrono>

namespace bh {

namespace {
// A call's reasons to stop wake its run, not this lock: they are looked for. Only waiters pay.
constexpr std::chrono::milliseconds kLook{20};
}  // namespace

Result<CallLock::Held> CallLock::take(Call& call) {
  std::unique_lock lock(mutex_);
  while (taken_) {
    lock.unlock();
    BH_TRY(call.check());
    lock.lock();
    free_.wait_for(lock, kLook, [&] { return !taken_; });
  }
  taken_ = true;
  return Held(this);
}

void CallLock::release() {
  std::lock_guard lock(mutex_);
  taken_ = false;
  free_.notify_one();
}

}  // namespace bh
