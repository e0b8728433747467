// bulkhead/sdk/isolation/files_trouble.hpp - what a file worker could not do, as a caller reads it.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_TROUBLE_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_TROUBLE_HPP

#include <errno.h>

#include <cstring>

#include "../result.hpp"
#include "files_protocol.hpp"

namespace bulkhead::sdk::isolation::files {

// `error`: an errno or a Trouble, from the worker.
inline Failure failure_of(uint32_t error, uint32_t act) {
  switch (error) {
    case ENOENT:
      return failure(BH_NOT_FOUND, "there is no such file or folder in the sandbox",
                     "file_not_found", {}, "list the folder to see what is there");
    case ENOTDIR:
      return failure(BH_FAILED_PRECONDITION, "a part of the path is a file, not a folder",
                     "not_a_folder", {}, "name a folder");
    case EISDIR:
      return failure(BH_FAILED_PRECONDITION, "it is a folder", "is_folder", {},
                     act == kRemove ? "remove it as a folder" : "name a file");
    case EEXIST:
      return failure(BH_ALREADY_EXISTS, "there is something of that name already", "file_exists", {},
                     "take another name, or allow it to be replaced");
    case EACCES:
    case EPERM:
      return failure(BH_PERMISSION_DENIED, "the sandbox may not do that there", "file_denied", {},
                     "its profile and the file's permissions decide; use the workspace");
    case EROFS:
      return failure(BH_PERMISSION_DENIED, "that place is read-only in the sandbox", "read_only", {},
                     "write below the workspace, HOME or /tmp, or change the profile");
    case ENOSPC:
    case EDQUOT:
      return failure(BH_RESOURCE_EXHAUSTED, "no space is left there", "no_space", {},
                     "remove what is no longer needed");
    case EFBIG:
      return failure(BH_RESOURCE_EXHAUSTED, "the file would be larger than the sandbox may write",
                     "no_space", {}, "raise limits.disk_bytes, or write less");
    case ENOTEMPTY:
      return failure(BH_FAILED_PRECONDITION, "something in that folder cannot be removed",
                     "not_empty", {}, "look at what is left in it");
    case EBUSY:
    case ETXTBSY:
      return failure(BH_FAILED_PRECONDITION, "it is in use, or a place of its own in the sandbox",
                     "file_busy", {}, "what the profile mounts there cannot be moved or replaced");
    case EXDEV:
      return failure(BH_FAILED_PRECONDITION,
                     "a folder cannot be moved to another file system of the sandbox",
                     "other_file_system", {}, "copy it with a command, then remove it");
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:
    case kRootItself:
      return failure(BH_INVALID_ARGUMENT,
                     error == kRootItself ? std::string("the path has no last part of its own")
                                          : std::string("the path cannot be used: ") +
                                                std::strerror(static_cast<int>(error)),
                     "path_invalid", "path", "name the file itself");
    case ENXIO:
    case ENODEV:
    case kNotAFile:
      return failure(BH_FAILED_PRECONDITION, "it is a device, a pipe or a socket, not a file",
                     "not_a_file", {}, "name a regular file");
    case kNoOwner:
      return failure(BH_UNIMPLEMENTED,
                     "files cannot be given to that user or group here: the sandbox has one of each",
                     "owner_unsupported", {}, "leave the owner out, or choose a backend with users");
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return failure(BH_RESOURCE_EXHAUSTED,
                     std::string("the sandbox's limits do not allow that: ") +
                         std::strerror(static_cast<int>(error)),
                     "system", {}, "raise the limit, or do less at once");
    default:
      return failure(BH_UNKNOWN,
                     error < 4096 ? std::string("the system says: ") +
                                        std::strerror(static_cast<int>(error))
                                  : std::string("the file worker cannot do that"),
                     "system");
  }
}

}  // namespace bulkhead::sdk::isolation::files

#endif  // BULKHEAD_SDK_ISOLATION_FILES_TROUBLE_HPP
