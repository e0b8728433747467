// A tar, read entry by entry into a tree: a whole root, or one layer with its whiteouts.
#pragma once

#include "base/error.h"
#include "images/worker/job.h"
#include "images/worker/stream.h"
#include "images/worker/tree.h"

namespace bh::unpack {

enum class TarKind { kRoot, kLayer };

// Reads `stream` to its end. Errors: image_format where it is no tar, and those of Stream and Tree.
Result<void> unpack_tar(Stream& stream, Tree& tree, Job& job, TarKind kind);

}  // namespace bh::unpack
