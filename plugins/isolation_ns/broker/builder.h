// Lays out a sandbox's file system in its new namespaces.
#pragma once

#include <bulkhead/sdk/isolation/mount_api.hpp>
#include <map>
#include <vector>

#include "../wire.h"

namespace ns {

// Detached mounts, ready to be put in their places.
struct Trees {
  isolation::Fd root;                            // where the host's / is shown
  isolation::Fd upper;                           // of an image's root
  std::vector<isolation::Fd> sources;            // by Blueprint::sources
  std::vector<bool> folders;                     // the same order
  std::map<std::string, isolation::Fd> hosts;    // by target
};

// Opens all that comes from the host. `users`: to map ids with; null: nothing is mapped. False:
// `answer` tells.
bool open_trees(const Blueprint& plan, Trees& trees, isolation::MountUsers* users, Answer& answer);

// In the new namespaces. Waits on `socket` until the ids are mapped, answers there, and then until
// the namespaces have been opened. Returns the exit code.
int run_builder(const Blueprint& plan, Trees trees, int socket);

}  // namespace ns
