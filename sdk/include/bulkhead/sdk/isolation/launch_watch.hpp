// bulkhead/sdk/isolation/launch_watch.hpp - the helper's outer half once the wall runs: it ends
// everything when the host dies, lets go or asks for it, and ends itself only when all is dead.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_WATCH_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_WATCH_HPP

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "launch_note.hpp"
#include "launch_tree.hpp"

namespace bulkhead::sdk::isolation {

// Blocks what watch() reads from its signalfd. Before the first fork.
inline Fd watch_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGRTMIN + 1}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// CPU time of everything that was reaped.
inline Note usage_note() {
  Note note;
  note.kind = Note::kUsage;
  note.c = cpu_of_children();
  return note;
}

// What else a launcher serves while it watches; never for long.
class Aside {
 public:
  virtual ~Aside() = default;
  virtual int fd() const = 0;  // asked before each wait; -1: nothing to wait for
  virtual void serve() = 0;    // it can be read, or its other end is gone
};

// `wall` is a child; `job` is the host's socket, `host` its pidfd. A signal number that arrives
// with SIGRTMIN+1 goes to `peer`, on behalf of another process of the same owner.
inline void watch(pid_t wall, int signals, int job, int host, int peer, Aside* aside = nullptr) {
  bool ending = false;
  for (;;) {
    pollfd sets[4] = {{signals, POLLIN, 0},
                      {host, POLLIN, 0},
                      {job, POLLIN, 0},
                      {aside != nullptr ? aside->fd() : -1, POLLIN, 0}};
    if (::poll(sets, ending ? 1 : 4, -1) < 0 && errno != EINTR) ending = true;
    if (sets[1].revents != 0 || sets[2].revents != 0) ending = true;
    if (sets[3].revents != 0 && !ending) aside->serve();
    signalfd_siginfo info;
    while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGTERM) ending = true;
      if (info.ssi_signo == static_cast<uint32_t>(SIGRTMIN + 1) && peer >= 0) {
        Note note;
        note.kind = Note::kSignal;
        note.a = info.ssi_int;
        (void)send_note(peer, note);
      }
    }
    if (ending) break;
    int status;
    pid_t pid;
    bool gone = false;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) gone = gone || pid == wall;
    if (gone) break;
  }
  // What the wall left comes back to us: we are a subreaper. Most often that is nothing.
  kill_descendants();
  (void)send_note(job, usage_note());
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_WATCH_HPP
