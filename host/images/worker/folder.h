// A folder of the host as the source of an image, and the survey of one that was unpacked.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "images/worker/job.h"
#include "images/worker/tree.h"

namespace bh::unpack {

// Copies what `source` holds. Other file systems that are mounted in it come along as empty folders;
// names of one file stay names of one file. Errors: those of Tree, and what the system says.
Result<void> copy_folder(int source, Tree& tree, Job& job);

struct Survey {
  std::int64_t bytes = 0;  // on the disk
  std::int64_t entries = 0;
  std::string digest;  // of the canonical listing
};

// Looks at all that `root` holds. The listing is of names, kinds, rights, owners, targets, and the
// hashes of contents; times do not count. `with_digest`: reads the contents.
Result<Survey> survey(int root, bool with_digest);

}  // namespace bh::unpack
