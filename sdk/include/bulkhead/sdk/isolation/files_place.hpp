// bulkhead/sdk/isolation/files_place.hpp - a path as a file worker uses it: the folder that holds the
// last part, opened, and that part; and the names of users and groups. No SDK types here.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_PLACE_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_PLACE_HPP

#include <limits.h>

#include <map>

#include "fd.hpp"

namespace bulkhead::sdk::isolation::files {

// Functions say 0 or an errno.
class Place {
 public:
  Fd folder;         // O_PATH
  std::string name;  // without '/'; "." for what has no name of its own

  // The last part itself is not looked at. `parents`: missing folders are made.
  int find(const std::string& path, bool parents = false) {
    const size_t end = path.find_last_not_of('/');
    must_be_folder_ = end + 1 < path.size();
    const std::string whole = end == std::string::npos ? "/" : path.substr(0, end + 1);
    const size_t slash = whole.rfind('/');
    name = whole.substr(slash + 1);
    if (name.empty()) name = ".";
    const std::string above = slash == 0 ? "/" : whole.substr(0, slash);
    if (parents) return make_folders(above, folder);
    folder.reset(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return folder ? 0 : errno;
  }
  bool has_name() const { return name != "." && name != ".."; }
  bool must_be_folder() const { return must_be_folder_; }

  // Where the last part is a link, to what it leads; that need not be there.
  int follow() {
    for (int links = 0; links < 40; ++links) {
      char target[PATH_MAX + 1];
      const ssize_t n = ::readlinkat(folder.get(), name.c_str(), target, sizeof target - 1);
      if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno;
      const std::string to(target, static_cast<size_t>(n));
      const size_t slash = to.rfind('/');
      if (slash != std::string::npos) {
        const std::string above = slash == 0 ? "/" : to.substr(0, slash);
        Fd next(::openat(folder.get(), above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!next) return errno;
        folder = std::move(next);
      }
      name = slash == std::string::npos ? to : to.substr(slash + 1);
      if (name.empty()) name = ".";
    }
    return ELOOP;
  }

  // `path` with every missing folder on its way, 0755, opened.
  static int make_folders(const std::string& path, Fd& out) {
    out.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (size_t at = 0; out && at < path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const std::string part = path.substr(at, end - at);
      at = end + 1;
      if (part.empty()) continue;
      constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
      Fd next(::openat(out.get(), part.c_str(), kFlags));
      if (!next && errno == ENOENT) {
        if (::mkdirat(out.get(), part.c_str(), 0755) != 0 && errno != EEXIST) return errno;
        next.reset(::openat(out.get(), part.c_str(), kFlags));
      }
      if (!next) return errno;
      out = std::move(next);
    }
    return out ? 0 : errno;
  }

 private:
  bool must_be_folder_ = false;
};

// /etc/passwd or /etc/group as the sandbox has it. Not libc's functions: in a static program they
// would load the host's modules from the sandbox's files.
class Names {
 public:
  explicit Names(const char* file) : file_(file) {}
  // The name of a number, or the number.
  std::string name(uint32_t id) {
    load();
    const auto it = names_.find(id);
    return it != names_.end() ? it->second : std::to_string(id);
  }
  // False: there is nobody of that name.
  bool number(const std::string& name, uint32_t& out) {
    if (digits(name, out)) return true;
    load();
    const auto it = numbers_.find(name);
    if (it == numbers_.end()) return false;
    out = it->second;
    return true;
  }

 private:
  static bool digits(const std::string& text, uint32_t& out) {
    if (text.empty() || text.size() > 10) return false;
    uint64_t n = 0;
    for (const char c : text) {
      if (c < '0' || c > '9') return false;
      n = n * 10 + static_cast<uint64_t>(c - '0');
    }
    out = static_cast<uint32_t>(n);
    return n < UINT32_MAX;
  }
  void load() {
    if (loaded_) return;
    loaded_ = true;
    std::string text;
    const Fd fd(::open(file_, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat st {};
    if (!fd || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode) ||
        !read_all(fd.get(), text, 1u << 20)) {
      return;
    }
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const size_t one = line.find(':');
      const size_t two = one == std::string::npos ? one : line.find(':', one + 1);
      const size_t three = two == std::string::npos ? two : line.find(':', two + 1);
      uint32_t id = 0;
      if (two == std::string::npos || one == 0 || one > 256 ||
          !digits(line.substr(two + 1, three - two - 1), id)) {
        continue;
      }
      names_.emplace(id, line.substr(0, one));
      numbers_.emplace(line.substr(0, one), id);
    }
  }

  const char* file_;
  bool loaded_ = false;
  std::map<uint32_t, std::string> names_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace bulkhead::sdk::isolation::files

#endif  // BULKHEAD_SDK_ISOLATION_FILES_PLACE_HPP
