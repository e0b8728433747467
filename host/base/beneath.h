// Files beneath a folder that somebody else may be changing: always openat2 from a folder's fd, no
// link leads out of it, no path is used twice.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace bh {

// Opens `path` (relative) beneath `root`: RESOLVE_BENEATH, no magic links, CLOEXEC. `links` allows
// symbolic links that stay beneath. Errors: as errno; a path that leaves is PERMISSION_DENIED with
// reason "path_escapes".
Result<Fd> open_beneath(int root, const std::string& path, int flags, std::uint32_t mode = 0,
                        bool links = false);

// An absolute folder of the operator's, made with its parents where absent (mode for the new
// ones). Links are followed: the operator may have put its data anywhere.
Result<Fd> make_folder(const std::string& path, std::uint32_t mode);

// The same for a relative path of one or more parts beneath `root`; no links.
Result<Fd> make_folder_beneath(int root, const std::string& path, std::uint32_t mode);

// The whole file, up to `limit` bytes (RESOURCE_EXHAUSTED beyond). Regular files only; a FIFO in
// its place never blocks the caller.
Result<std::string> read_beneath(int root, const std::string& path, std::size_t limit);

// All or nothing: readers see the old content or the new one. Synced before it is named.
Result<void> write_beneath(int root, const std::string& path, std::string_view data,
                           std::uint32_t mode);

// Removes a file or a whole tree, whatever is in it, never following a link. Absent is fine.
Result<void> remove_beneath(int root, const std::string& path);

}  // namespace bh
