#include "cli/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace bh::cli {

Outlet::Outlet(int fd) : fd_(fd) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return;
  socket_ = S_ISSOCK(st.st_mode);
  if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode)) return;
  std::string again = "/proc/self/fd/" + std::to_string(fd);
  writable_ = ::open(again.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  careful_ = writable_ < 0;
}

Outlet::~Outlet() {
  if (writable_ >= 0) ::close(writable_);
}

Outlet::State Outlet::push(std::string_view& rest) {
  while (!rest.empty()) {
    ssize_t n = 0;
    if (socket_) {
      n = ::send(fd_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (careful_) {
      // A pipe that poll() calls writable takes PIPE_BUF bytes without waiting.
      pollfd p{fd_, POLLOUT, 0};
      if (::poll(&p, 1, 0) == 0) return State::kFull;
      n = ::write(fd_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    } else {
      n = ::write(fd(), rest.data(), rest.size());
    }
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      return State::kFull;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return State::kClosed;
    } else if (errno != EINTR) {
      error_ = errno;
      return State::kFailed;
    }
  }
  return State::kDone;
}

}  // namespace bh::cli
