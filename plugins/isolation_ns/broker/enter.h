// Brings a first process into a sandbox: joins its namespaces, makes a pid and a mount namespace of
// the command's own, and gives up every right before it waits for what to run.
#pragma once

#include <sys/types.h>

namespace ns {

// Descriptors of a joiner, by number: its table starts with them.
struct Seat {
  int user = -1, mnt = -1, ipc = -1, uts = -1, cgroup = -1, time = -1;
  int net = -1;   // -1: the host's, or one that is to be made
  bool make_network = false;
  int back = -1;  // where a network namespace, or a keeper, that was made is sent; -1: none is
  int filter = -1, entry = -1;
  int pid = -1;       // the pid namespace that commands share, `mnt` its keeper's; -1: none is shared
  bool keep = false;  // start that keeper; its pid and mount namespaces go to `back`
  int control = -1, job = -1, trouble = -1, peer = -1, host = -1;
  pid_t broker = -1;
};

// The joiner: watches over the first process, ends it when the host dies, lets go or asks for it,
// and ends itself only when all is dead. Returns the exit code.
int run_joiner(const Seat& seat);

}  // namespace ns
