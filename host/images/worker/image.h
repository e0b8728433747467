// An image, whatever it comes as, unpacked.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "images/worker/job.h"

namespace bh::unpack {

// Makes "rootfs" in `target`, an empty folder, of `source`: a folder, or the bytes of an archive. The
// answer is what the host keeps of it: digest, kind, bytes, entries, os, arch, config, names, left_out,
// ids_kept. On failure what was made lies there still; the host removes it.
Result<json::object> unpack_image(int source, int target, Job& job);

}  // namespace bh::unpack
