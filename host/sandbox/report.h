// The enforcement report, completed and judged by the host: what a backend does not mention counts
// as unsupported, and a required rule that is not enforced means no sandbox.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace bh {

// The names of all rules that a profile states (abi/schemas/isolation_profile.json says how they
// are named), in a fixed order.
std::vector<std::string> rules_of(const json::object& profile);

// Adds a line for every rule that the report does not mention; `taken_out` are those that the
// backend's schema does not list.
json::object complete_report(json::object report, const json::object& profile,
                             const std::vector<std::string>& taken_out);

// FAILED_PRECONDITION (not_enforced) naming the rules; details.rules holds their lines.
Result<void> check_required(const json::object& report, const std::vector<std::string>& required,
                            const std::string& backend);

}  // namespace bh
