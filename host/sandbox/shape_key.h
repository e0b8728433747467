// The name under which a persona's default sandbox of one shape is found again.
#pragma once

#include <string>

#include "base/json.h"

namespace bh {

// The same for the same persona, backend and profile, in every process; 32 hex digits.
std::string shape_key(const std::string& persona, const std::string& backend,
                      const json::object& profile);

}  // namespace bh
