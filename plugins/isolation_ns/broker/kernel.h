// Raw system calls of the broker's processes.
#pragma once

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ns {

// Like fork, into new namespaces.
inline pid_t clone_process(uint64_t flags) {
  clone_args a{};
  a.flags = flags;
  a.exit_signal = SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone3, &a, sizeof a));
}

// Like fork, but the table of descriptors is shared until the child takes a copy of its start:
// copying that of a broker that holds thousands takes longer than all else.
inline pid_t fork_sharing_files() {
  clone_args a{};
  a.flags = CLONE_FILES;
  a.exit_signal = SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone3, &a, sizeof a));
}

constexpr unsigned kCloseRangeUnshare = 2;

}  // namespace ns
