// What is told of a file: its etag and its media type.
//
// The etag is the file's time of writing, which no two writes of a store share, and its size: it
// changes with each write, also of the same content, is part of the file itself, and changes as
// well when somebody edits the file by hand.
#pragma once

#include "place.h"

namespace filestore_dir {

inline constexpr size_t kMaxMediaType = 255;

std::string etag_of(const struct stat& about);

// Before the file gets its name. Kept as an attribute of the file, or, where the file system has
// none, under its etag in types/.
sdk::Status keep_media_type(const Place& place, int file, std::string_view type);
// Empty: none was given.
std::string media_type_of(const Place& place, int file, const struct stat& about);
// When the file is gone.
void forget_media_type(const Place& place, const struct stat& about);

// Hands it to `each` as the ABI has it.
sdk::Status tell(const Place& place, std::string_view name, const Opened& what,
                 const sdk::EachFile& each);

}  // namespace filestore_dir
