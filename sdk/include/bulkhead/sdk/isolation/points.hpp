// bulkhead/sdk/isolation/points.hpp - mount points that sandboxes need in a persona's own folders.
#ifndef BULKHEAD_SDK_ISOLATION_POINTS_HPP
#define BULKHEAD_SDK_ISOLATION_POINTS_HPP

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "view.hpp"

namespace bulkhead::sdk::isolation {

// A record per folder says what was made in it, by inode. Its lock is held shared while a command
// runs, also by other processes: a point that another sandbox has something mounted on must stay.
// The last one removes; so does the next one after a host that was killed. [any]
class Points {
 public:
  // `state`: the provider's state folder.
  explicit Points(std::string state) : state_(std::move(state)) {}
  ~Points() { remove(); }
  Points(const Points&) = delete;
  Points& operator=(const Points&) = delete;

  // Before the command starts. What cannot be made is left to the launcher, which says why.
  void make(const View& view);
  // What nobody else needs. make() may come again.
  void remove();

 private:
  struct Top {
    Fd folder, record;
  };
  void make_one(const Top& top, const std::string& path, bool folder) const;
  void clear(const Top& top) const;

  const std::string state_;
  std::vector<Top> tops_;
};

namespace detail {

// The folder that `path` lies in, opened beneath `top`, and its last part.
inline Fd open_parent(int top, const std::string& path, std::string& last) {
  const size_t cut = path.rfind('/');
  last = cut == std::string::npos ? path : path.substr(cut + 1);
  return open_beneath(top, cut == std::string::npos ? "." : path.substr(0, cut));
}

}  // namespace detail

inline void Points::make(const View& view) {
  for (size_t i = 0; i < view.sources.size(); ++i) {
    const auto& inner = view.sources[i].inner;
    auto wanted = [](const InnerMount& m) { return m.make == 1 && m.kind != InnerMount::kHide; };
    if (std::none_of(inner.begin(), inner.end(), wanted)) continue;
    const std::string folder = state_ + "/.points";
    (void)::mkdir(folder.c_str(), 0700);
    const std::string name = folder + "/" + std::to_string(view.sources[i].device) + "-" +
                             std::to_string(view.sources[i].inode);
    Top top;
    top.record.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    top.folder.reset(::fcntl(view.held[i].get(), F_DUPFD_CLOEXEC, 3));
    if (!top.record || !top.folder || ::flock(top.record.get(), LOCK_SH) != 0) continue;
    for (const InnerMount& m : inner) {
      if (!wanted(m)) continue;
      struct stat st {};
      const bool file = m.kind == InnerMount::kSource &&
                        ::fstat(view.held[m.source].get(), &st) == 0 && !S_ISDIR(st.st_mode);
      for (size_t end = 0; end != std::string::npos;) {
        end = m.path.find('/', end + 1);
        make_one(top, m.path.substr(0, end), end != std::string::npos || !file);
      }
    }
    tops_.push_back(std::move(top));
  }
}

inline void Points::make_one(const Top& top, const std::string& path, bool folder) const {
  std::string last;
  const Fd parent = detail::open_parent(top.folder.get(), path, last);
  if (!parent) return;
  if (folder) {
    if (::mkdirat(parent.get(), last.c_str(), 0755) != 0) return;
  } else {
    const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
    if (!Fd(::openat(parent.get(), last.c_str(), flags, 0600))) return;
  }
  struct stat made {}, top_st{};
  if (::fstatat(parent.get(), last.c_str(), &made, AT_SYMLINK_NOFOLLOW) != 0) return;
  // As all that lies in there: its owner is the sandbox's user inside.
  if (::geteuid() == 0 && ::fstat(top.folder.get(), &top_st) == 0) {
    (void)::fchownat(parent.get(), last.c_str(), top_st.st_uid, top_st.st_gid, AT_SYMLINK_NOFOLLOW);
  }
  std::string line = std::to_string(made.st_ino) + " " + path;
  line += '\0';
  (void)write_all(top.record.get(), line);
}

// With the record locked for us alone.
inline void Points::clear(const Top& top) const {
  std::string text, kept;
  if (::lseek(top.record.get(), 0, SEEK_SET) != 0 || !read_all(top.record.get(), text)) {
    return;
  }
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  // Last made, first gone. Not empty, or no longer what was made: it is somebody else's by now.
  for (auto it = lines.rbegin(); it != lines.rend(); ++it) {
    const size_t space = it->find(' ');
    if (space == std::string::npos) continue;
    std::string last;
    const Fd parent = detail::open_parent(top.folder.get(), it->substr(space + 1), last);
    struct stat st {};
    if (!parent || ::fstatat(parent.get(), last.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        std::to_string(st.st_ino) != it->substr(0, space)) {
      continue;
    }
    const bool folder = S_ISDIR(st.st_mode);
    if (!folder && (!S_ISREG(st.st_mode) || st.st_size != 0)) continue;
    if (::unlinkat(parent.get(), last.c_str(), folder ? AT_REMOVEDIR : 0) == 0) continue;
    kept.insert(0, *it + '\0');
  }
  if (::ftruncate(top.record.get(), 0) == 0) (void)write_all(top.record.get(), kept);
}

inline void Points::remove() {
  for (const Top& top : tops_) {
    // Turning the lock into the other kind lets go of it first: of several that end at once, the
    // last one gets it.
    if (::flock(top.record.get(), LOCK_EX | LOCK_NB) == 0) clear(top);
  }
  tops_.clear();
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_POINTS_HPP
