// The walls around the worker: what parses a stranger's bytes keeps nothing that it could misuse.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/json.h"

namespace bh::unpack {

struct Walls {
  int source = -1;  // a file, a pipe or a folder, to be read
  int target = -1;  // the folder to write beneath
  std::int64_t most_bytes = 0;  // of one file
  bool keep_ids = false;        // the capabilities that giving files away takes
};

// Whether this process may give files away to other owners.
bool can_keep_ids();

// For good: no new privileges, no capability but what `keep_ids` needs, no descriptor beyond those
// named and 0 to 2, limits, Landlock where the kernel has it, a list of system calls. Says what holds.
// FAILED_PRECONDITION (unpack_confinement) where one that has to hold cannot be built. One thread.
Result<json::object> confine(const Walls& walls);

}  // namespace bh::unpack
