// What the worker says to the host: one JSON object a line, on a pipe.
//   {"entries":N,"bytes":N}    while it works, a few times a second
//   {"done":{…}}               what unpack_image() says (image.h)
//   {"error":{"code":N,"message":TEXT,"details":{…}}}
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "images/worker/job.h"

namespace bh::unpack {

inline constexpr int kSourceFd = 0;
inline constexpr int kReportFd = 1;
inline constexpr int kTargetFd = 3;

// Ends the program where nobody listens any more: the host is gone.
void report_progress(const Counts& counts);
void report_done(const json::object& result);
void report_error(const Error& error);

}  // namespace bh::unpack
