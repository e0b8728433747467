// Worker threads: one per call in progress, made when needed, ended when idle for a while. Nested
// calls take none, so nesting cannot starve. Signals are blocked on every thread.
//
// Calls that take microseconds share threads: waking one for each would take longer than they do. As
// long as one idle thread is on guard, such work is left to those that are at work, and what they do
// not take within a millisecond, since one of them got stuck after all, the guard sees to.
//
// A pool outlives its owner for as long as one of its threads does: a stuck plugin must not hold up
// the process.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace bh {

class Pool {
 public:
  // Grows to `most` threads. `queues`: with all busy, work waits for the next free one; else
  // start() refuses it.
  Pool(std::size_t most, bool queues);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // What is left to say when the work is done (who hears it may start the next at once, so the place
  // is free by then); may be empty. It must not wait.
  using LastWord = std::function<void()>;
  // False: all are busy, or the pool has ended. [any]
  bool start(std::function<LastWord()> work);

  // A call that waits for the embedder lends its place to others: lend(1), later lend(-1). Also for
  // a thread that is given up. [any]
  void lend(int places);

  // Takes no more work and waits until every thread has ended. False: some are still busy. [any]
  // [blocking]
  bool end(std::chrono::milliseconds timeout);

 private:
  struct State;
  static void* thread_main(void* state);
  std::shared_ptr<State> state_;
};

// Blocks all signals on the calling thread while it lives (host threads, and an embedder's own
// thread during bh_do).
class SignalsBlocked {
 public:
  SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_;
};

}  // namespace bh
