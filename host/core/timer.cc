#include "core/timer.h"

#include <chrono>
#include <utility>

#include "core/clock.h"
#include "core/pool.h"
#include "core/run.h"

namespace bh {

Timer::Timer(std::function<void(const std::shared_ptr<Run>&)> overdue)
    : overdue_(std::move(overdue)) {}

Timer::~Timer() { end(); }

void Timer::arm(const std::shared_ptr<Run>& run, std::int64_t at) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  due_.emplace(at, run);
  if (!started_) {
    started_ = true;
    SignalsBlocked inherited_by_the_thread;
    thread_ = std::thread([this] { loop(); });
  } else {
    changed_.notify_one();
  }
}

void Timer::end() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }
  if (!thread_.joinable()) return;
  // The last owner of a runtime may be an event that the timer itself let go of.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Timer::look_at(const std::shared_ptr<Run>& run) {
  if (run->finished()) return;
  run->trip();
  if (run->abandon_if_overdue()) {
    overdue_(run);
    return;
  }
  std::int64_t left = run->time_left();
  if (left == kNoLimit || run->abandoned()) return;
  // Past its deadline: look again when its grace has gone.
  arm(run, monotonic_ns() + (left > 0 ? left : 2 * kSecond));
}

void Timer::loop() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (due_.empty()) {
      changed_.wait(lock);
      continue;
    }
    std::int64_t rest = due_.begin()->first - monotonic_ns();
    if (rest > 0) {
      changed_.wait_for(lock, std::chrono::nanoseconds(rest));
      continue;
    }
    std::shared_ptr<Run> run = due_.begin()->second.lock();
    due_.erase(due_.begin());
    lock.unlock();
    if (run) look_at(run);
    run.reset();
    lock.lock();
  }
}

}  // namespace bh
