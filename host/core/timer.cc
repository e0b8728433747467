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
  auto known = look_of_.find(run.get());
  if (known != look_of_.end()) {
    if (known->second->first <= at) return;
    due_.erase(known->second);
  }
  look_of_[run.get()] = due_.emplace(at, Look{run.get(), run});
  if (!started_) {
    started_ = true;
    SignalsBlocked inherited_by_the_thread;
    thread_ = std::thread([this, gone = gone_] { loop(*gone); });
  } else {
    changed_.notify_one();
  }
}

void Timer::forget(const Run* run) {
  std::lock_guard lock(mutex_);
  auto known = look_of_.find(run);
  if (known == look_of_.end()) return;
  due_.erase(known->second);
  look_of_.erase(known);
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
    *gone_ = true;
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
  run->watch_deadline();
}

void Timer::loop(const bool& gone) {
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
    std::shared_ptr<Run> run = due_.begin()->second.run.lock();
    look_of_.erase(due_.begin()->second.which);
    due_.erase(due_.begin());
    lock.unlock();
    if (run) look_at(run);
    run.reset();
    if (gone) return;  // the run was the last that held the engine, and so this timer
    lock.lock();
  }
}

}  // namespace bh
