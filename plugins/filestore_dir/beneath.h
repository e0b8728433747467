// Names of callers, resolved beneath a folder that is open already: no link is followed, no mount
// is entered, and what was opened is looked at before it is used. No path is resolved twice.
#pragma once

#include <sys/stat.h>

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/isolation/fd.hpp>
#include <string>
#include <string_view>

namespace filestore_dir {

namespace sdk = bulkhead::sdk;
using sdk::isolation::Fd;

inline constexpr int kMaxParts = 64;  // of a path: walks hold one descriptor for each

// INVALID_ARGUMENT where a path cannot be one. Empty is the store itself, where `may_be_root`.
sdk::Status check_path(std::string_view path, bool may_be_root);

// "a/b/c" -> "a/b" and "c"; "c" -> "" and "c".
struct Split {
  std::string folder, name;
};
Split split(std::string_view path);

// A descriptor below `folder`, or none with errno set. `path` "" is the folder itself, anew. Flags
// that keep it from links, terminals and waiting are added.
Fd open_beneath(int folder, const std::string& path, int flags, mode_t mode = 0);
// The same, for a folder to list or to sync.
Fd open_folder(int folder, const std::string& path);

// A file or folder that was opened and looked at.
struct Opened {
  Fd fd;
  struct stat about {};
  bool folder() const { return S_ISDIR(about.st_mode); }
};
// For reading. What is neither file nor folder is refused: `not_regular`, or `link`.
sdk::Result<Opened> open_entry(int folder, const std::string& path);

// What errno means to a caller; `doing` is "read", `path` the caller's name for it.
sdk::Failure system_failure(int error, const char* doing, std::string_view path);

}  // namespace filestore_dir
