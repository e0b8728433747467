// Builds a sandbox's namespaces: a process per sandbox that ends once the broker holds them.
#pragma once

#include <bulkhead/sdk/isolation/fd.hpp>

namespace ns {

// Runs in a process of its own. Reads the blueprint, makes what only it may make (as root: mounts
// with other ids), starts the builder in the new namespaces, and sends Answer and the namespaces
// (user, mnt, ipc, uts, cgroup, time) over `told`. Returns the exit code.
int run_maker(int blueprint, int told);

}  // namespace ns
