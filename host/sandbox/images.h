// The names that callers may give as an image, and what stands for them here.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "sandbox/settings.h"

namespace bh {

// What the operator's configuration says of that name. NOT_FOUND (image_unknown) lists those that
// are known.
Result<json::object> find_image(const SandboxSettings& settings, const std::string& name);

// Adds the report's line for it: the host's own system stands in for an image.
void report_image(json::object& report, const std::string& name);

}  // namespace bh
