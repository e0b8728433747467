// Unpacking one image in a process of its own: the helper bulkhead-unpack, which is started, fed,
// watched and ended here.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"

namespace bh {

struct UnpackJob {
  std::string helper;  // its path; empty: the one that was installed with us
  int source = -1;     // a file or folder; -1: the call's input
  int target = -1;     // an open empty folder
  json::object options;  // images/worker/main.cc reads them: limits, reference, os, arch
};

// What the worker says of the image (images/worker/image.h). Progress goes out as events. Errors: the
// worker's own; UNAVAILABLE (image_unpack) where it is not there or cannot be started, INTERNAL
// (image_unpack) where it ended without a word. Where the call is stopped, it is killed. [any]
// [blocking]
Result<json::object> unpack_image(Call& call, const UnpackJob& job);

}  // namespace bh
