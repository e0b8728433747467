// What a path in the file store may be, and whose it is. Checked here and nowhere else: stores get
// what bulkhead/filestore.h promises them.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/session.h"

namespace bh {

inline constexpr std::size_t kMaxStorePart = 255;
// With a persona's name before it, it fits in the 1024 bytes that object stores take.
inline constexpr std::size_t kMaxStorePath = 960;
inline constexpr std::size_t kMaxStoreParts = 60;

// INVALID_ARGUMENT (path_invalid) with field, what is wrong and what would be right. `field`: a JSON
// pointer. Empty is the persona's whole area, where `may_be_empty`.
Result<void> check_store_path(std::string_view path, std::string_view field,
                              bool may_be_empty = false);

// Where it lies in the store: PERSONA/path, so that no path leads to another persona's files. `path`
// is checked. INTERNAL for a persona whose name could not be a part of a path.
Result<std::string> stored_path(const Session& session, std::string_view path);

}  // namespace bh
