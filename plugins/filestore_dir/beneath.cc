#include "beneath.h"

#include <linux/openat2.h>
#include <string.h>

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

Status check_path(std::string_view path, bool may_be_root) {
  auto wrong = [&](const char* why, const char* remedy) {
    return failure(BH_INVALID_ARGUMENT,
                   "the path " + sdk::json_quote(path.substr(0, 200)) + " " + why, "path", "path",
                   remedy);
  };
  if (path.empty()) {
    if (may_be_root) return {};
    return wrong("is empty: it names the store itself", "name a file or folder inside");
  }
  if (path.size() > 4095) return wrong("has more than 4095 bytes", "use shorter names");
  if (path.find('\0') != std::string_view::npos) return wrong("has a NUL in it", "leave it out");
  if (!sdk::is_utf8(path)) return wrong("is not UTF-8", "encode names as UTF-8");
  int parts = 0;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") {
      return wrong("has an empty part, . or ..", "name each folder once, from the store's root on");
    }
    if (part.size() > 255) return wrong("has a part of more than 255 bytes", "use shorter names");
    if (++parts > kMaxParts) return wrong("has more than 64 parts", "use fewer folders");
    at = end + 1;
  }
  return {};
}

Split split(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

Fd open_beneath(int folder, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
  // O_PATH opens nothing, and takes no flag that is about opening.
  if ((flags & O_PATH) == 0) how.flags |= static_cast<uint64_t>(O_NONBLOCK | O_NOCTTY);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const char* name = path.empty() ? "." : path.c_str();
  // The kernel says EAGAIN when something was renamed while it looked for "..": these paths have
  // none, but a few tries cost nothing.
  for (int tries = 0;; ++tries) {
    const long fd = ::syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno == EINTR || (errno == EAGAIN && tries < 32)) continue;
    return Fd();
  }
}

Fd open_folder(int folder, const std::string& path) {
  return open_beneath(folder, path, O_RDONLY | O_DIRECTORY);
}

sdk::Result<Opened> open_entry(int folder, const std::string& path) {
  Opened out;
  out.fd = open_beneath(folder, path, O_RDONLY);
  if (!out.fd) return system_failure(errno, "open", path);
  if (::fstat(out.fd.get(), &out.about) != 0) return system_failure(errno, "look at", path);
  if (!S_ISREG(out.about.st_mode) && !S_ISDIR(out.about.st_mode)) {
    return failure(BH_FAILED_PRECONDITION,
                   sdk::json_quote(path) + " is neither a file nor a folder", "not_regular", "path",
                   "have the operator take it out of the store's folder");
  }
  return out;
}

sdk::Failure system_failure(int error, const char* doing, std::string_view path) {
  const std::string what = "cannot " + std::string(doing) + " " + sdk::json_quote(path) + ": ";
  char buffer[128] = {};
  const std::string said = ::strerror_r(error, buffer, sizeof buffer);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return failure(BH_NOT_FOUND, "the store has no " + sdk::json_quote(path), "file_not_found",
                     "path", "list the folder to see what is there");
    case ELOOP:
      return failure(BH_FAILED_PRECONDITION, what + "it is a link, or leads through one", "link",
                     "path", "have the operator take links out of the store's folder");
    case EXDEV:
      return failure(BH_PERMISSION_DENIED, what + "it leads out of the store's folder or onto "
                     "another file system", "path_escapes", "path",
                     "have the operator take mounts out of the store's folder");
    case ENXIO:
    case ENODEV:
      return failure(BH_FAILED_PRECONDITION, what + "it is neither a file nor a folder",
                     "not_regular", "path", "have the operator take it out of the store's folder");
    case ENAMETOOLONG:
      return failure(BH_INVALID_ARGUMENT, what + said, "path", "path", "use shorter names");
    case ENOSPC:
    case EDQUOT:
      return failure(BH_RESOURCE_EXHAUSTED, what + said, "disk_full", {},
                     "remove files, or have the operator free space where the store lies");
    case EFBIG:
      return failure(BH_RESOURCE_EXHAUSTED, what + said, "too_large", {},
                     "split the file: the file system takes none of this size");
    case EMFILE:
    case ENFILE:
      return failure(BH_RESOURCE_EXHAUSTED, what + said, "descriptors", {},
                     "try again when fewer calls run, or raise the limit of open files");
    case ENOMEM:
      return failure(BH_RESOURCE_EXHAUSTED, what + said, "memory", {}, "try again later");
    case EAGAIN:
      return failure(BH_UNAVAILABLE, what + "it is being renamed all the time", "system", "path",
                     "try again");
    case EACCES:
    case EPERM:
    case EROFS:
      return failure(BH_FAILED_PRECONDITION, what + said, "system", {},
                     "have the operator give Bulkhead's user the store's folder to write in");
    case EIO:
      return failure(BH_DATA_LOSS, what + said, "system", {}, "look at the disk's health");
    default:
      return failure(BH_INTERNAL, what + said, "system");
  }
}

}  // namespace filestore_dir
