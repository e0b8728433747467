#include "core/queue.h"

#include <chrono>
#include <utility>

#include "core/clock.h"
#include "core/question.h"
#include "core/run.h"

namespace bh {

Event::Event(int event_kind, std::uint64_t event_tag)
    : kind(event_kind), tag(event_tag), time_ns(wall_ns()) {}

Event::~Event() {
  if (run) run->return_room(cost);
  // Nobody took it, so nobody will answer it.
  if (question) question->give_up("the embedder let the question go unanswered");
}

void EventQueue::note_ready_locked() {
  if (ready()) look_.store(true, std::memory_order_release);
  ready_.set(ready());
}

void EventQueue::push(std::unique_ptr<Event> event) {
  bool wake_one = false;
  {
    auto lock = lock_soon(mutex_);
    if (!closed_) {
      events_.push_back(std::move(event));
      note_ready_locked();
      // The one that spins takes the first.
      wake_one = waiting_ > 0 && !(spinning_ && events_.size() == 1);
    }
  }
  // A dropped event is destroyed here, outside the lock: its room wakes its run.
  if (wake_one) changed_.notify_one();
}

void EventQueue::wait(std::unique_lock<std::mutex>& lock, int timeout_ms) {
  const std::int64_t since = monotonic_ns();
  if (const std::int64_t ns = patience_.spin_ns(); ns > 0 && !spinning_) {
    spinning_ = true;
    look_ = false;
    lock.unlock();
    (void)Patience::spin(ns, [&] { return look_.load(std::memory_order_acquire); });
    lock.lock();
    spinning_ = false;
  }
  waiting_++;
  if (timeout_ms < 0) {
    changed_.wait(lock, [&] { return ready(); });
  } else {
    const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(since)) +
                       std::chrono::milliseconds(timeout_ms);
    changed_.wait_until(lock, until, [&] { return ready(); });
  }
  waiting_--;
  patience_.note(monotonic_ns() - since);
}

std::unique_ptr<Event> EventQueue::next(int timeout_ms) {
  auto lock = lock_soon(mutex_);
  if (!ready() && timeout_ms != 0) wait(lock, timeout_ms);
  std::unique_ptr<Event> out;
  if (wakes_ > 0) {
    wakes_--;
  } else if (!events_.empty()) {
    out = std::move(events_.front());
    events_.pop_front();
  }
  note_ready_locked();
  // Who spun may have been told for both.
  if (ready() && waiting_ > 0) changed_.notify_one();
  return out;
}

void EventQueue::wake() {
  std::lock_guard lock(mutex_);
  const bool was_ready = ready();
  wakes_++;
  note_ready_locked();
  // One that has looked, found what it did not want and waits for the next edge is meant as well.
  if (was_ready) ready_.again();
  changed_.notify_one();
}

void EventQueue::close() {
  std::deque<std::unique_ptr<Event>> rest;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    rest.swap(events_);
    note_ready_locked();
  }
}

bool EventQueue::closed() {
  std::lock_guard lock(mutex_);
  return closed_;
}

void EventQueue::end() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  note_ready_locked();
  changed_.notify_all();
}

bool EventQueue::over() {
  std::lock_guard lock(mutex_);
  return ended_ && events_.empty();
}

}  // namespace bh
