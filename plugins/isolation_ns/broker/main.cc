// bulkhead-ns-broker: the helper program of isolation_ns. One per opened backend, started on first
// use with a socket to it as descriptor 3; gone with it. It reads nothing that a sandbox wrote.
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <string_view>

#include "holder.h"

namespace {

using namespace ns;
using isolation::Fd;

constexpr int kSocket = 3;

int trouble(const char* what) {
  ::fprintf(stderr, "broker: %s\n", what);
  return 1;
}

// Descriptors kept back: with all others in use a request still arrives whole, and is refused, where
// it would be lost otherwise, and we with it.
class Reserve {
 public:
  void release() { kept_.clear(); }
  // false: there are no more.
  bool keep() {
    while (kept_.size() < kMany) {
      Fd fd(::fcntl(kSocket, F_DUPFD_CLOEXEC, kSocket));
      if (!fd) return false;
      kept_.push_back(std::move(fd));
    }
    return true;
  }

 private:
  static constexpr size_t kMany = 16;
  std::vector<Fd> kept_;
};

void reap(Spawner& spawner, Holder& holder) {
  int status;
  for (;;) {
    // Children only: nobody else in this program starts any.
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    spawner.ended(pid);
    holder.ended(pid);
  }
}

int serve() {
  (void)::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  // Whatever of the host's was open without close-on-exec stops here.
  (void)isolation::close_range(kSocket + 1, UINT_MAX, 0);
  (void)!::chdir("/");
  ::umask(022);
  Spawner spawner;
  if (!spawner.start()) return trouble("no descriptors");
  // The host itself comes first: when it dies, so do we, and all that we started.
  std::vector<Fd> host;
  Request hello;
  if (receive_message(kSocket, hello, host) != 1 || host.size() != 1) return trouble("no host");
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  }
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return trouble("no signals");
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);

  Holder holder(spawner, host[0].get());
  Reserve reserve;
  for (;;) {
    std::vector<pollfd> sets{{kSocket, POLLIN, 0},
                             {host[0].get(), POLLIN, 0},
                             {signals.get(), POLLIN, 0},
                             {spawner.waiting(), POLLIN, 0}};
    for (const int fd : holder.watched()) sets.push_back({fd, POLLIN, 0});
    if (::poll(sets.data(), sets.size(), holder.timeout()) < 0 && errno != EINTR) return 1;
    if (sets[1].revents != 0) return 0;
    signalfd_siginfo info;
    while (::read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    }
    reap(spawner, holder);
    if (sets[3].revents != 0) spawner.settle();
    reserve.release();
    for (size_t i = 4; i < sets.size(); ++i) {
      if (sets[i].revents != 0) holder.heard(sets[i].fd);
    }
    holder.look_at_clock();
    if (sets[0].revents == 0) {
      (void)reserve.keep();
      continue;
    }
    Request request;
    std::vector<Fd> fds;
    const int n = receive_message(kSocket, request, fds, MSG_DONTWAIT);
    if (n == 0) return 0;
    if (n < 0 && errno != EAGAIN && errno != EPROTO && errno != EMFILE) return 1;
    const bool room = reserve.keep();
    if (n == 1 && room) holder.take(request, std::move(fds));
    if (n == 1 && !room) holder.take_in_need(request, std::move(fds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == "broker") return serve();
  return trouble("this program is started by the plugin isolation_ns");
}
