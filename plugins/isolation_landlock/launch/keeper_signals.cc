// Signals, where Landlock does not keep them in (before its version 6, of Linux 6.12): to the
// sandbox's own processes and no others. What is asked is all in registers, so about the asking
// process itself the kernel may go on; to others the keeper sends, through a pidfd.
#include <signal.h>

#include "keeper.h"

namespace launch {

using isolation::Fd;

long Keeper::signal(const Asked& a) {
  const auto first = static_cast<int>(a.args[0]), second = static_cast<int>(a.args[1]);
  const auto third = static_cast<int>(a.args[2]);
  const int own = process_of(a.pid);
  switch (a.call) {
    case SYS_kill:
      // Its own group cannot become another one while it is in it, and all in there are of the
      // session that the command began.
      if (first == own || first == 0 || first == -::getpgid(own)) return kLetThrough;
      return first > 0 ? signal_process(first, second) : signal_many(a, first, second);
#ifdef SYS_tkill
    case SYS_tkill:
      return signal_thread(process_of(static_cast<uint32_t>(first)), first, second);
#endif
    case SYS_tgkill:
      return first == own ? kLetThrough : signal_thread(first, second, third);
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
      return first == own ? kLetThrough : -EPERM;
    case 424:  // pidfd_send_signal
      return signal_descriptor(a, first, second);
    default:
      return -EPERM;
  }
}

// A number that another process has by now is told by its descriptor.
long Keeper::signal_process(int pid, int number) {
  const Fd process(isolation::pidfd_open(pid));
  if (!process) return -ESRCH;
  if (!is_ours(pid)) return -EPERM;
  return isolation::pidfd_send_signal(process.get(), number) == 0 ? 0 : -errno;
}

long Keeper::signal_thread(int process, int thread, int number) {
  if (process <= 0 || thread <= 0) return -ESRCH;
  const Fd held(isolation::pidfd_open(process));
  if (!held) return -ESRCH;
  if (!is_ours(process)) return -EPERM;
  return ::syscall(SYS_tgkill, process, thread, number) == 0 ? 0 : -errno;
}

// -1: all but the asking one; else the group of that number.
long Keeper::signal_many(const Asked& asked, int group, int number) {
  const int own = process_of(asked.pid);
  bool any = false, sent = false;
  for (const int pid : isolation::descendants(init_)) {
    if (group == -1 ? pid == own : ::getpgid(pid) != -group) continue;
    any = true;
    sent = signal_process(pid, number) == 0 || sent;
  }
  return sent ? 0 : any ? -EPERM : -ESRCH;
}

long Keeper::signal_descriptor(const Asked& asked, int fd, int number) {
  const Fd process = copy_of(asked, fd);
  if (!process) return -errno;
  std::string facts;
  int pid = 0;
  if (!isolation::read_file("/proc/self/fdinfo/" + std::to_string(process.get()), facts, 4096)) {
    return -errno;
  }
  const size_t at = facts.find("\nPid:");
  if (at == std::string::npos || std::sscanf(facts.c_str() + at, " Pid: %d", &pid) != 1) {
    return -EBADF;
  }
  if (pid <= 0) return -ESRCH;
  if (!is_ours(pid)) return -EPERM;
  return isolation::pidfd_send_signal(process.get(), number) == 0 ? 0 : -errno;
}

// Whoever loses its parent meanwhile comes to the init, and is found there the next time.
bool Keeper::is_ours(int pid) const {
  for (int attempt = 0; attempt < 3; ++attempt) {
    int at = pid;
    for (int steps = 0; steps < 65536 && at > 1; ++steps) {
      at = isolation::process_facts(at).parent;
      if (at == init_) return true;
    }
    if (at == 1) return false;
  }
  return false;
}

}  // namespace launch
