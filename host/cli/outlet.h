// Where a stream leaves the program. Writing never waits, so that signals are heard while nobody
// reads; poll(fd(), POLLOUT) says when to go on.
#pragma once

#include <string_view>

namespace bh::cli {

class Outlet {
 public:
  enum class State { kDone, kFull, kClosed, kFailed };

  // `fd` stays the caller's. Its file description is shared with whoever started us, so it is not
  // made non-blocking: pipes and terminals are opened a second time.
  explicit Outlet(int fd);
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;
  ~Outlet();

  int fd() const { return writable_ >= 0 ? writable_ : fd_; }

  // Writes what goes, and takes it off `rest`. kClosed: nobody reads any more; kFailed: error().
  State push(std::string_view& rest);
  int error() const { return error_; }

 private:
  int fd_;
  int writable_ = -1;  // the second opening
  bool socket_ = false;
  bool careful_ = false;  // no second opening: small pieces, each after poll()
  int error_ = 0;
};

}  // namespace bh::cli
