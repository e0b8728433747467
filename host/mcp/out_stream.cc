#include "mcp/out_stream.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace bh::mcp {
namespace {

bool writable_now(int fd) {
  pollfd p{fd, POLLOUT, 0};
  return poll(&p, 1, 0) == 1 && (p.revents & (POLLOUT | POLLERR | POLLHUP)) != 0;
}

sigset_t sigpipe_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

OutStream::OutStream(int fd) : fd_(fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return;
  is_socket_ = S_ISSOCK(st.st_mode);
  // Where this is refused (no /proc, another user's pipe) the pipe is written to in small pieces.
  if (!S_ISFIFO(st.st_mode)) return;
  own_ = open(("/proc/thread-self/fd/" + std::to_string(fd)).c_str(),
              O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat opened {};
  if (own_ >= 0 && (fstat(own_, &opened) != 0 || opened.st_dev != st.st_dev ||
                    opened.st_ino != st.st_ino)) {
    close(own_);  // a /proc of somebody else's
    own_ = -1;
  }
}

OutStream::~OutStream() {
  if (own_ >= 0) close(own_);
}

void OutStream::add(std::string&& line) {
  if (waiting() == 0) {
    text_ = std::move(line);
    written_ = 0;
  } else {
    text_ += line;
  }
  text_ += '\n';
}

bool OutStream::write_some() {
  while (waiting() != 0) {
    const char* from = text_.data() + written_;
    ssize_t n;
    if (is_socket_) {
      n = send(fd_, from, waiting(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (own_ >= 0) {
      n = write(own_, from, waiting());
    } else {
      // A pipe that polls writable takes PIPE_BUF bytes without waiting, and promises no more.
      if (!writable_now(fd_)) return true;
      n = write(fd_, from, std::min<size_t>(waiting(), PIPE_BUF));
    }
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      std::string().swap(text_);
      written_ = 0;
      return false;
    }
    written_ += static_cast<size_t>(n);
  }
  if (text_.capacity() > (1u << 20)) std::string().swap(text_);
  text_.clear();
  written_ = 0;
  return true;
}

SigpipeBlocked::SigpipeBlocked() {
  sigset_t set = sigpipe_set();
  sigset_t before;
  if (pthread_sigmask(SIG_BLOCK, &set, &before) == 0) was_blocked_ = sigismember(&before, SIGPIPE);
}

SigpipeBlocked::~SigpipeBlocked() {
  if (was_blocked_) return;
  sigset_t set = sigpipe_set();
  timespec now{};
  while (sigtimedwait(&set, nullptr, &now) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace bh::mcp
