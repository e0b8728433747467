#include "cli/progress.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/text.h"

namespace bh::cli {
namespace {
constexpr std::int64_t kSecond = 1000;
}

std::int64_t now_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

Progress::Progress(int fd) : fd_(fd), on_(::isatty(fd) == 1) {}

void Progress::start(std::string what) {
  clear();
  what_ = std::move(what);
  since_ms_ = now_ms();
  due_ms_ = since_ms_ + kSecond;
}

void Progress::detail(std::string_view text) {
  if (!what_.empty() && !text.empty()) what_ = printable(text);
}

int Progress::wait_ms() const {
  if (!on_ || what_.empty()) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, due_ms_ - now_ms()));
}

void Progress::tick() {
  std::int64_t now = now_ms();
  if (!on_ || what_.empty() || now < due_ms_) return;
  std::string line = what_ + " … " + std::to_string((now - since_ms_) / 1000) + " s";
  std::size_t columns = columns_of(fd_);
  if (columns > 1) line = cut_to(line, columns - 1);
  write_all(fd_, "\r" + line + "\x1b[K");
  shown_ = true;
  due_ms_ = now + kSecond;
}

void Progress::clear() {
  if (shown_) write_all(fd_, "\r\x1b[K");
  shown_ = false;
}

void Progress::stop() {
  clear();
  what_.clear();
}

}  // namespace bh::cli
