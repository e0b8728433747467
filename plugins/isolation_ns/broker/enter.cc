#include "enter.h"

#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/launch_watch.hpp>
#include <bulkhead/sdk/isolation/mount_api.hpp>

#include "../wire.h"
#include "first.h"
#include "kernel.h"

namespace ns {

using isolation::Fd;

namespace {

int trouble(const Seat& seat, const char* what) {
  char text[256];
  const int n = ::snprintf(text, sizeof text, "%s: %s\n", what, ::strerror(errno));
  if (seat.trouble >= 0) (void)!::write(seat.trouble, text, static_cast<size_t>(n));
  return 1;
}

// A network of its own has a loopback interface that is down.
bool raise_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  ::strcpy(request.ifr_name, "lo");
  if (!socket || ::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

bool make_network(const Seat& seat) {
  if (::unshare(CLONE_NEWNET) != 0 || !raise_loopback()) return false;
  const Fd made(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  return made && send_message(seat.back, Answer(), {made.get()});
}

// The user namespace first: in it we have the rights that the others take.
bool join(const Seat& seat) {
  if (::setns(seat.user, CLONE_NEWUSER) != 0) return false;
  if (seat.make_network && !make_network(seat)) return false;
  if (seat.net >= 0 && ::setns(seat.net, CLONE_NEWNET) != 0) return false;
  return ::setns(seat.ipc, CLONE_NEWIPC) == 0 && ::setns(seat.uts, CLONE_NEWUTS) == 0 &&
         ::setns(seat.cgroup, CLONE_NEWCGROUP) == 0 && ::setns(seat.time, 0x80) == 0 &&
         (seat.pid < 0 || ::setns(seat.pid, CLONE_NEWPID) == 0) &&
         ::setns(seat.mnt, CLONE_NEWNS) == 0;
}

// Opened while the keeper waits for our word, since nobody can once it has given up its rights; told
// once it has. `proc`: the host's.
bool tell_keeper(const Seat& seat, int keeper_socket, int proc, pid_t keeper) {
  const std::string folder = std::to_string(keeper) + "/ns/";
  const Fd pid(::openat(proc, (folder + "pid").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd mnt(::openat(proc, (folder + "mnt").c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 'g';
  return pid && mnt && ::write(keeper_socket, &byte, 1) == 1 &&
         ::read(keeper_socket, &byte, 1) == 1 &&
         send_message(seat.back, Answer(), {pid.get(), mnt.get()});
}

// Until the first process ends, or is to end.
void watch_first(pid_t first, int signals, const Seat& seat) {
  for (;;) {
    pollfd sets[3] = {{signals, POLLIN, 0}, {seat.host, POLLIN, 0}, {seat.job, POLLIN, 0}};
    if (::poll(sets, 3, -1) < 0 && errno != EINTR) break;
    if (sets[1].revents != 0 || sets[2].revents != 0) break;
    signalfd_siginfo info;
    bool ending = false;
    while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGTERM) ending = true;
      // On behalf of another process of the same owner.
      if (info.ssi_signo == static_cast<uint32_t>(SIGRTMIN + 1) && seat.peer >= 0) {
        isolation::Note note;
        note.kind = isolation::Note::kSignal;
        note.a = info.ssi_int;
        (void)isolation::send_note(seat.peer, note);
      }
    }
    if (ending) break;
    int status = 0;
    const pid_t gone = ::waitpid(first, &status, WNOHANG | WUNTRACED);
    // Among shared processes a command can stop it, and would then never be seen to end.
    if (gone == first && WIFSTOPPED(status)) {
      ::kill(first, SIGCONT);
    } else if (gone == first) {
      return;
    }
  }
  if (seat.pid >= 0) {
    // Not the first of its namespace: what it started would outlive it, so it is asked to end that.
    ::kill(first, SIGTERM);
    pollfd gone{signals, POLLIN, 0};
    for (int i = 0; i < 20 && ::waitpid(first, nullptr, WNOHANG) == 0; ++i) {
      (void)::poll(&gone, 1, 50);
      signalfd_siginfo info;
      while (::read(signals, &info, sizeof info) > 0) {
      }
    }
  }
  // The kernel ends all else in its pid namespace before it is reaped.
  ::kill(first, SIGKILL);
  while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

int run_joiner(const Seat& seat) {
  const Fd signals = isolation::watch_signals();
  if (!signals) return trouble(seat, "watching for signals");
  const Fd proc(seat.keep ? ::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  if (!join(seat)) return trouble(seat, "joining the sandbox's namespaces");
  // After the namespaces, which clear it. If we are an orphan already, nobody would ever tell us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != seat.broker) return 1;
  int ready[2] = {-1, -1};
  if (seat.keep && ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ready) != 0) {
    return trouble(seat, "a socket");
  }
  // Who is not, as the broker, cannot be opened.
  if (seat.keep) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  const pid_t first = clone_process(seat.pid >= 0 ? 0 : CLONE_NEWPID | CLONE_NEWNS);
  if (first < 0 && seat.pid >= 0 && errno == ENOMEM) {
    // The kernel's word for a pid namespace whose first process is gone. The next command has another.
    errno = ESRCH;
    return trouble(seat, "the sandbox's processes were ended from outside; run it again");
  }
  if (first < 0) return trouble(seat, "the command's own namespaces");
  if (first == 0) {
    ::close(signals.get());
    if (seat.keep) ::close(ready[0]);
    ::_exit(seat.keep ? run_keeper(seat, ready[1]) : run_first(seat));
  }
  if (seat.keep) {
    ::close(ready[1]);
    if (!tell_keeper(seat, ready[0], proc.get(), first)) ::kill(first, SIGKILL);
    ::close(ready[0]);
  }
  // Its own from here on: their ends must be seen by who waits at the other side.
  for (const int fd : {seat.control, seat.trouble, seat.filter, seat.entry, seat.user, seat.mnt,
                       seat.ipc, seat.uts, seat.cgroup, seat.time, seat.net, seat.back, seat.pid}) {
    if (fd >= 0) ::close(fd);
  }
  watch_first(first, signals.get(), seat);
  if (seat.job >= 0) (void)isolation::send_note(seat.job, isolation::usage_note());
  return 0;
}

}  // namespace ns
