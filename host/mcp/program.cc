// What the program has beside the library: one server, and a signal handler that ends it.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "mcp/stdio.h"

namespace bh::mcp {
namespace {

// One for the process and never closed: a signal handler may use it at any moment.
int stop_fd() noexcept {
  static const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd;
}
// Made before main() begins, because a handler must not be the first to ask for it.
[[maybe_unused]] const int stop_fd_made = stop_fd();

}  // namespace

void request_stop() noexcept {
  int saved = errno;
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t n = write(stop_fd(), &one, sizeof one);
  errno = saved;
}

int run_stdio(bulkhead::Runtime& runtime, const std::string& session_config, int in_fd,
              int out_fd) {
  return serve_session(runtime, session_config, in_fd, out_fd, stop_fd());
}

}  // namespace bh::mcp
