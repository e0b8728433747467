#include "mcp/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "mcp/embedder.h"

namespace bh::mcp {
namespace {

constexpr std::string_view instructions =
    "Runs commands, code and file operations in a sandbox of this session. Files in its workspace, "
    "HOME and /tmp stay from one call to the next. A refused action says what refused it.";

// The fds to serve, owned where they are copies.
class ServedFds {
 public:
  ServedFds() = default;
  ~ServedFds() {
    if (own_in_ >= 0) close(own_in_);
    if (own_out_ >= 0) close(own_out_);
  }
  ServedFds(const ServedFds&) = delete;
  ServedFds& operator=(const ServedFds&) = delete;

  // Where they are 0 and 1, copies out of the reach of others, with something harmless in the old
  // places. A fault where that cannot be: what anybody prints would lie between the messages.
  Fault take(int in_fd, int out_fd) {
    in_ = in_fd;
    out_ = out_fd;
    if (in_fd == STDIN_FILENO && !put_away(in_, own_in_, O_RDONLY, -1)) return lacking();
    if (out_fd != STDOUT_FILENO) return {};
    std::fflush(stdout);
    return put_away(out_, own_out_, O_WRONLY, STDERR_FILENO) ? Fault() : lacking();
  }
  int in() const { return in_; }
  int out() const { return out_; }

 private:
  // `stand_in` comes in the old place, /dev/null where that is not open.
  static bool put_away(int& fd, int& own, int mode, int stand_in) {
    const int empty = open("/dev/null", mode | O_CLOEXEC);
    own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    const bool stands = own >= 0 && ((stand_in >= 0 && dup2(stand_in, fd) >= 0) ||
                                     (empty >= 0 && dup2(empty, fd) >= 0));
    if (empty >= 0) close(empty);
    if (stands) fd = own;
    return stands;
  }
  static Fault lacking() {
    return Fault(BH_RESOURCE_EXHAUSTED,
                 "stdin and stdout cannot be put out of reach: no file descriptor is left; close "
                 "some, or raise the limit of open files",
                 R"({"reason":"descriptors"})");
  }

  int in_ = -1, out_ = -1;
  int own_in_ = -1, own_out_ = -1;
};

}  // namespace

Fault serve_session(const bulkhead::Runtime& runtime, const std::string& session_config, int in_fd,
                    int out_fd, int stop_fd, bool& all_ended) {
  Embedder host;
  if (Fault fault = Embedder::open(runtime, session_config, host)) return fault;
  ServedFds fds;
  if (Fault fault = fds.take(in_fd, out_fd)) return fault;
  ServeOptions options;
  options.host = &host;
  options.in_fd = fds.in();
  options.out_fd = fds.out();
  options.stop_fd = stop_fd;
  options.version = bh_version_text();
  options.instructions = instructions;
  all_ended = serve_stdio(options);
  return {};
}

}  // namespace bh::mcp
