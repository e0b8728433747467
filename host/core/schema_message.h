// Violations as sentences for people (and for the models that made the call): what was expected,
// what came, and what would be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/schema_check.h"

namespace bh::schema {

// "expected string, got number": without the place.
std::string sentence(const Violation& violation);

// The whole error: place, sentence and details.
Error describe(const Violation& violation, std::string_view subject);

// The one of `names` that `wrong` was likely meant to be, or empty.
std::string_view nearest_name(std::string_view wrong, const std::vector<std::string_view>& names);

// "object or string", from the bits of Type.
std::string type_names(std::uint8_t types);

// A key or index as a part of a JSON pointer, with its slash.
std::string pointer_step(std::string_view key);

}  // namespace bh::schema
