// A status as JSON and people read it. The list is that of bulkhead/base.h, in its order. [any]
#pragma once

#include <bulkhead/base.h>

#include <string_view>

namespace bulkhead {

// "NOT_FOUND"; "UNKNOWN" for what base.h does not list.
inline constexpr std::string_view code_name(bh_status code) {
  constexpr std::string_view kNames[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  constexpr bh_status kCount = sizeof kNames / sizeof kNames[0];
  static_assert(kCount == BH_UNAUTHENTICATED + 1, "a name for each code");
  return code >= 0 && code < kCount ? kNames[code] : kNames[BH_UNKNOWN];
}

}  // namespace bulkhead
