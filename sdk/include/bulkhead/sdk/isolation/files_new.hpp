// bulkhead/sdk/isolation/files_new.hpp - a file that takes its place when it is whole, and not before:
// without a name until then where the file system can do that, else under a name of its own in the
// same folder. No SDK types here.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_NEW_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_NEW_HPP

#include <stdio.h>
#include <sys/random.h>

#include "files_place.hpp"

namespace bulkhead::sdk::isolation::files {

// Functions say 0 or an errno. What was not placed is gone with the object.
class NewFile {
 public:
  NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  }

  // `folder` is borrowed.
  int open(int folder) {
    folder_ = folder;
    // Linking it later needs /proc.
    if (::access("/proc/self/fd", X_OK) == 0) {
      fd_.reset(::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
      if (fd_ || errno == EACCES || errno == EROFS || errno == ENOSPC || errno == EDQUOT) {
        return fd_ ? 0 : errno;
      }
    }
    const std::string name = fresh_name();
    fd_.reset(::openat(folder, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
                       0600));
    if (!fd_) return errno;
    temporary_ = name;
    return 0;
  }
  int fd() const { return fd_.get(); }

  // Now it is whole. `replace`: takes the place of another file.
  int place(const std::string& name, bool replace) {
    if (::fsync(fd_.get()) != 0) return errno;
    if (temporary_.empty()) {
      const std::string self = "/proc/self/fd/" + std::to_string(fd_.get());
      if (link(self, name) == 0) return 0;
      if (errno != EEXIST || !replace) return errno;
      const std::string between = fresh_name();
      if (link(self, between) != 0) return errno;
      temporary_ = between;
    }
    if (rename_at(folder_, temporary_, folder_, name, replace) != 0) return errno;
    temporary_.clear();
    return 0;
  }

  // As renameat2; where a file system knows no RENAME_NOREPLACE, the look comes before the act.
  static int rename_at(int from_folder, const std::string& from, int to_folder,
                       const std::string& to, bool replace) {
    const unsigned flags = replace ? 0 : RENAME_NOREPLACE;
    if (::renameat2(from_folder, from.c_str(), to_folder, to.c_str(), flags) == 0) return 0;
    if (replace || (errno != EINVAL && errno != ENOSYS)) return -1;
    struct stat st {};
    if (::fstatat(to_folder, to.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) return errno = EEXIST, -1;
    return ::renameat(from_folder, from.c_str(), to_folder, to.c_str());
  }

 private:
  int link(const std::string& self, const std::string& name) const {
    return ::linkat(AT_FDCWD, self.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW);
  }
  static std::string fresh_name() {
    uint64_t random = 0;
    (void)!::getrandom(&random, sizeof random, 0);
    return ".bulkhead-" + std::to_string(random) + ".tmp";
  }

  Fd fd_;
  int folder_ = -1;
  std::string temporary_;
};

}  // namespace bulkhead::sdk::isolation::files

#endif  // BULKHEAD_SDK_ISOLATION_FILES_NEW_HPP
