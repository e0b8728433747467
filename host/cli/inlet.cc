#include "cli/inlet.h"

#include <errno.h>
#include <unistd.h>

namespace bh::cli {
namespace {
constexpr std::size_t kPiece = 64 * 1024;
}

Inlet::Inlet(int fd) : fd_(fd), terminal_(fd >= 0 && ::isatty(fd) == 1) {
  if (fd < 0) ended_ = told_ = true;
}

bool Inlet::wants_read() const {
  if (ended_ || !rest_.empty()) return false;
  return !terminal_ || ::tcgetpgrp(fd_) == ::getpgrp();
}

bulkhead::Fault Inlet::read_into(bulkhead::Run& run) {
  if (ended_ || !rest_.empty()) return {};
  buffer_.resize(kPiece);
  ssize_t n = ::read(fd_, buffer_.data(), buffer_.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  // An error ends the input as an end of file does: the command sees what came before it.
  if (n <= 0) {
    ended_ = true;
  } else {
    rest_ = std::string_view(buffer_.data(), static_cast<std::size_t>(n));
  }
  return offer(run);
}

bulkhead::Fault Inlet::go_on(bulkhead::Run& run) { return offer(run); }

void Inlet::stop() {
  ended_ = told_ = true;
  rest_ = {};
}

bulkhead::Fault Inlet::offer(bulkhead::Run& run) {
  while (!rest_.empty()) {
    std::size_t taken = 0;
    bulkhead::Fault fault = run.send(rest_.data(), rest_.size(), taken);
    if (fault.code() == BH_OUT_OF_RANGE) {
      stop();  // the command has closed its stdin, or ended
      return {};
    }
    if (fault) return fault;
    rest_.remove_prefix(taken);
    if (!rest_.empty()) return {};  // BH_EVENT_ROOM says when to go on
  }
  if (ended_ && !told_) {
    told_ = true;
    bulkhead::Fault fault = run.send_end();
    if (fault.code() != BH_OUT_OF_RANGE) return fault;
  }
  return {};
}

}  // namespace bh::cli
