// Names of an archive's entries, made into paths beneath the image's root, or refused.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bh::unpack {

// "./a//b/" becomes "a/b"; the root itself is empty; a leading slash means the image's root, as it
// would inside. Bytes are kept as they are. INVALID_ARGUMENT (image_unsafe) for "..";
// RESOURCE_EXHAUSTED (image_too_large) for a part above 255 bytes, a whole above 4095 or more parts
// than `depth`.
Result<std::string> clean_path(std::string_view name, int depth);

// The folder and the last part of a clean path that is not empty.
std::string folder_of(const std::string& path);
std::string last_of(const std::string& path);

// Fit for a sentence: repaired, and its beginning alone where it is long.
std::string shown(std::string_view name);

Failure unsafe(std::string_view entry, const std::string& what);
Failure broken(std::string_view entry, const std::string& what);
// `limit`: its name and value, as "entries=4000000".
Failure too_large(const std::string& what, const std::string& limit);

}  // namespace bh::unpack
