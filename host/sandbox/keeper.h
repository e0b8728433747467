// The thread that applies what time brings: expiry, and what dead processes left. It does a pass
// when it is told to, at the time that the last pass named, and every half minute, for what other
// processes wrote.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace bh {

// All [any].
class Keeper {
 public:
  // One pass; the Unix time (ms) of the next thing to do. It looks at hurried() between its steps.
  using Pass = std::function<std::int64_t()>;

  explicit Keeper(Pass pass);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  // Starts the thread; a first pass is made a moment later, so that it is in nobody's way.
  void start();
  // Something is due earlier than was known.
  void poke();
  // The first use of what it keeps: the first pass is made now. Cheap where that was so already.
  void touch();
  // Ends the thread once its pass is over; a first pass that touch() asked for is still made, so that
  // hosts that never live long sweep too. False: the pass is stuck in a plugin, and goes on using
  // what it uses. [blocking]
  bool stop();
  // The host is closing and has waited long enough: what is left is another's.
  bool hurried() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace bh
