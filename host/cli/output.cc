#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace bh::cli {

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd p{fd, POLLOUT, 0};
      ::poll(&p, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

bool print(std::string_view text) {
  int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return true;
  complain(std::string("bulkhead: cannot write to stdout: ") + std::strerror(error) + "\n");
  return false;
}

void complain(std::string_view text) { write_all(STDERR_FILENO, text); }

Palette Palette::for_fd(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  return Palette(::isatty(fd) == 1 && !dumb && (no_color == nullptr || *no_color == '\0'));
}

std::string Palette::operator()(Paint paint, std::string_view text) const {
  const char* code = nullptr;
  switch (paint) {
    case Paint::kGood:
      code = "\x1b[32m";
      break;
    case Paint::kWarn:
      code = "\x1b[33m";
      break;
    case Paint::kBad:
      code = "\x1b[31m";
      break;
    case Paint::kDim:
      code = "\x1b[2m";
      break;
    case Paint::kBold:
      code = "\x1b[1m";
      break;
    case Paint::kNone:
      break;
  }
  if (!on_ || code == nullptr) return std::string(text);
  return code + std::string(text) + "\x1b[0m";
}

std::size_t columns_of(int fd) {
  winsize size{};
  if (::isatty(fd) != 1 || ::ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace bh::cli
