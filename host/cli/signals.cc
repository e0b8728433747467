#include "cli/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace bh::cli {

Signals::Signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  for (int n : numbers) {
    // Who started us with SIGHUP ignored (nohup) or SIGINT (a shell's background job) means it.
    struct sigaction action {};
    bool ignored = ::sigaction(n, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&set, n);
  }
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  // What is still pending was meant for the work that has ended; taking it out keeps it from
  // ending the program now.
  while (next()) {
  }
  if (fd_ >= 0) ::close(fd_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::next() {
  signalfd_siginfo info{};
  while (fd_ >= 0 && ::read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    int number = static_cast<int>(info.ssi_signo);
    if (number != SIGPIPE) return number;
  }
  return std::nullopt;
}

}  // namespace bh::cli
