// Signals as something to wait for. They are blocked while this lives, so it is made before the
// library starts threads; the library's and the commands' own masks are not touched by it.
#pragma once

#include <signal.h>

#include <initializer_list>
#include <optional>

namespace bh::cli {

class Signals {
 public:
  // SIGPIPE is always among them: a write that finds no reader says EPIPE instead. It is blocked
  // and not ignored, because a command would inherit the second.
  explicit Signals(std::initializer_list<int> numbers);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  int fd() const { return fd_; }  // readable when next() has one
  std::optional<int> next();      // never SIGPIPE

 private:
  int fd_ = -1;
  sigset_t before_{};
};

}  // namespace bh::cli
