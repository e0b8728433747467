#include "mcp/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "mcp/embedder.h"

namespace bh::mcp {
namespace {

constexpr int exit_ours = 125;
constexpr std::string_view instructions =
    "Runs commands, code and file operations in a sandbox of this session. Files in its workspace, "
    "HOME and /tmp stay from one call to the next. A refused action says what refused it.";

// A copy out of the reach of others, with `stand_in` in its old place. -1: it could not be made.
int put_away(int fd, int stand_in) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy >= 0 && stand_in >= 0) dup2(stand_in, fd);
  return copy;
}

// The fds to serve, owned where they are copies.
class ServedFds {
 public:
  ServedFds(int in_fd, int out_fd) : in_(in_fd), out_(out_fd) {
    if (in_fd == STDIN_FILENO) {
      int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
      own_in_ = put_away(in_fd, empty);
      if (empty >= 0) close(empty);
      if (own_in_ >= 0) in_ = own_in_;
    }
    if (out_fd == STDOUT_FILENO) {
      std::fflush(stdout);
      own_out_ = put_away(out_fd, STDERR_FILENO);
      if (own_out_ >= 0) out_ = own_out_;
    }
  }
  ~ServedFds() {
    if (own_in_ >= 0) close(own_in_);
    if (own_out_ >= 0) close(own_out_);
  }
  ServedFds(const ServedFds&) = delete;
  ServedFds& operator=(const ServedFds&) = delete;
  int in() const { return in_; }
  int out() const { return out_; }

 private:
  int in_, out_;
  int own_in_ = -1, own_out_ = -1;
};

}  // namespace

int serve_session(const bulkhead::Runtime& runtime, const std::string& session_config, int in_fd,
                  int out_fd, int stop_fd) {
  Embedder host;
  if (Fault fault = Embedder::open(runtime, session_config, host)) {
    std::fprintf(stderr, "bulkhead: %s\n", fault.message().c_str());
    return exit_ours;
  }
  ServedFds fds(in_fd, out_fd);
  ServeOptions options;
  options.host = &host;
  options.in_fd = fds.in();
  options.out_fd = fds.out();
  options.stop_fd = stop_fd;
  options.version = bh_version_text();
  options.instructions = instructions;
  return serve_stdio(options);
}

}  // namespace bh::mcp
