// bulkhead/sdk/isolation/tree_remove.hpp - removes a folder that a sandbox has written to: links
// are not followed, folders without permission and of any depth go too.
#ifndef BULKHEAD_SDK_ISOLATION_TREE_REMOVE_HPP
#define BULKHEAD_SDK_ISOLATION_TREE_REMOVE_HPP

#include <dirent.h>

#include <string>
#include <vector>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

namespace detail {

class TreeRemover {
 public:
  explicit TreeRemover(int top) : top_(top) {}

  bool empty_top() {
    bool ok = empty(top_, 0);
    while (!moved_.empty()) {
      const std::string name = moved_.back();
      moved_.pop_back();
      const Fd fd(open_folder(top_, name.c_str()));
      ok = fd && empty(fd.get(), 0) && ok;
      ok = ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0 && ok;
    }
    return ok;
  }

 private:
  static int open_folder(int parent, const char* name) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = ::openat(parent, name, flags);
    if (fd >= 0 || errno != EACCES) return fd;
    // Its owner took the permissions away. Not a link: O_NOFOLLOW would have said so.
    (void)::fchmodat(parent, name, 0700, 0);
    return ::openat(parent, name, flags);
  }

  bool empty(int folder, int depth) {
    // A copy, since closedir() closes what it reads from.
    const int own = ::fcntl(folder, F_DUPFD_CLOEXEC, 3);
    DIR* d = own >= 0 ? ::fdopendir(own) : nullptr;
    if (d == nullptr) return false;
    (void)::fchmod(folder, 0700);
    bool ok = true;
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(d)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    ::closedir(d);
    for (const auto& name : names) {
      if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) continue;
      if (errno != EISDIR && errno != EPERM) {
        ok = false;
        continue;
      }
      ok = remove_folder(folder, name, depth) && ok;
    }
    return ok;
  }

  bool remove_folder(int parent, const std::string& name, int depth) {
    const Fd fd(open_folder(parent, name.c_str()));
    if (!fd) return errno == ENOENT;
    if (depth >= kDeepest) {
      // Neither our stack nor our descriptors follow a chain of any length: up with it.
      (void)::fchmod(fd.get(), 0700);
      const std::string moved = ".bulkhead-" + std::to_string(count_++);
      if (::renameat(parent, name.c_str(), top_, moved.c_str()) != 0) return false;
      moved_.push_back(moved);
      return true;
    }
    const bool ok = empty(fd.get(), depth + 1);
    return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 && ok;
  }

  static constexpr int kDeepest = 64;
  int top_;
  unsigned count_ = 0;
  std::vector<std::string> moved_;
};

}  // namespace detail

// `name` in `parent` with all that it holds; true when nothing of it is left.
inline bool remove_tree(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return true;
  const Fd top(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!top) return errno == ENOENT;
  const bool ok = detail::TreeRemover(top.get()).empty_top();
  return (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) && ok;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_TREE_REMOVE_HPP
