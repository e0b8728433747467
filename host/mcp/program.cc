// What the program has beside the library: one server, and a signal handler that ends it.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "mcp/stdio.h"

namespace bh::mcp {
namespace {

constexpr int exit_ours = 125;

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
  bool all_ended = false;
  if (Fault fault =
          serve_session(runtime, session_config, in_fd, out_fd, stop_fd(), all_ended)) {
    std::fprintf(stderr, "bulkhead: %s\n", fault.message().c_str());
    return exit_ours;
  }
  if (all_ended) return 0;
  std::fputs("bulkhead: a tool did not stop in time and was left behind\n", stderr);
  return exit_ours;
}

}  // namespace bh::mcp
