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

void EventQueue::note_ready_locked() { ready_.set(!events_.empty() || wakes_ > 0); }

void EventQueue::push(std::unique_ptr<Event> event) {
  bool wake_one = false;
  {
    std::lock_guard lock(mutex_);
    if (!closed_) {
      events_.push_back(std::move(event));
      note_ready_locked();
      wake_one = waiting_ > 0;
    }
  }
  // A dropped event is destroyed here, outside the lock: its room wakes its run.
  if (wake_one) changed_.notify_one();
}

std::unique_ptr<Event> EventQueue::next(int timeout_ms) {
  std::unique_lock lock(mutex_);
  auto ready = [&] { return !events_.empty() || wakes_ > 0; };
  if (!ready() && timeout_ms != 0) {
    waiting_++;
    if (timeout_ms < 0) {
      changed_.wait(lock, ready);
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
    }
    waiting_--;
  }
  std::unique_ptr<Event> out;
  if (wakes_ > 0) {
    wakes_--;
  } else if (!events_.empty()) {
    out = std::move(events_.front());
    events_.pop_front();
  }
  note_ready_locked();
  return out;
}

void EventQueue::wake() {
  std::lock_guard lock(mutex_);
  wakes_++;
  note_ready_locked();
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

}  // namespace bh
