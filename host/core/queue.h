// Where everything that happens waits for the embedder. Owned by handles, runs and servers together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "core/event.h"
#include "core/ready_fd.h"
#include "core/spin.h"

namespace bh {

class EventQueue {
 public:
  // Events of one run keep their order. Into a closed queue they vanish. [any]
  void push(std::unique_ptr<Event> event);

  // The next event; null after timeout_ms (< 0: no limit) or a wake(). [any] [blocking]
  std::unique_ptr<Event> next(int timeout_ms);

  // Readable when next() would not wait. [any]
  bh_fd fd() { return ready_.get(); }

  // Ends one next(), the current or the coming one. [any]
  void wake();

  // Drops what is there and all that still comes. [any]
  void close();
  bool closed();

  // Nothing comes any more: next() waits no longer, and what is there is still given. [any]
  void end();
  // It has ended and all was taken.
  bool over();

 private:
  bool ready() const { return !events_.empty() || wakes_ > 0 || ended_; }
  void note_ready_locked();
  void wait(std::unique_lock<std::mutex>& lock, int timeout_ms);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Event>> events_;
  int wakes_ = 0;
  int waiting_ = 0;        // asleep in next()
  bool spinning_ = false;  // one is in next() and has not gone to sleep
  Patience patience_;
  std::atomic<bool> look_{false};  // to that one: there is something
  bool closed_ = false;
  bool ended_ = false;
  ReadyFd ready_;
};

}  // namespace bh
