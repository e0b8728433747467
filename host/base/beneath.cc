#include "base/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bh {
namespace {

Failure failed(int number, const std::string& path) {
  if (number == EXDEV || number == ELOOP) {
    return fail(BH_PERMISSION_DENIED,
                "the path " + path + " leads out of its folder or through a link", "path_escapes",
                {{"field", path}});
  }
  return fail_errno(number, path);
}

// Splits "a/b/c" into the folder's fd and the last part.
Result<Fd> open_parent(int root, const std::string& path, std::string& last) {
  std::size_t slash = path.rfind('/');
  last = slash == std::string::npos ? path : path.substr(slash + 1);
  if (last.empty() || last == "." || last == "..") {
    return fail(BH_INVALID_ARGUMENT, "the path \"" + path + "\" does not name a file", "path",
                {{"field", path}});
  }
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  return open_beneath(root, folder, O_PATH | O_DIRECTORY);
}

Result<void> sync_and_name(Fd file, int folder, const std::string& temporary,
                           const std::string& name) {
  if (::fsync(file.get()) != 0) return fail_errno(errno, name);
  if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) {
    return fail_errno(errno, name);
  }
  return {};
}

struct CloseDir {
  void operator()(DIR* d) const { ::closedir(d); }
};

// Opens a folder from which whoever made it may have taken its owner's rights away.
Fd open_closed(int parent, const std::string& name) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(::openat(parent, name.c_str(), flags));
  if (folder || errno != EACCES) return folder;
  Fd pinned(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!pinned) return pinned;
  std::string self = "/proc/self/fd/" + std::to_string(pinned.get());
  ::chmod(self.c_str(), 0700);
  return Fd(::openat(parent, name.c_str(), flags));
}

// Empties a folder that a sandbox has written to: of any depth, with any modes, links not followed.
class Remover {
 public:
  explicit Remover(int top) : top_(top) {}

  Result<void> run() {
    BH_TRY(empty(top_, 0));
    while (!moved_.empty()) {
      std::string name = std::move(moved_.back());
      moved_.pop_back();
      BH_TRY(remove_folder(top_, name, 0));
    }
    return {};
  }

 private:
  // Each level holds two fds and a stack frame, so a deeper folder is brought up first.
  static constexpr int kDeepest = 64;

  Result<void> empty(int folder, int depth) {
    int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return fail_errno(errno, "opening a folder to empty it");
    std::unique_ptr<DIR, CloseDir> dir(::fdopendir(copy));
    if (!dir) {
      int number = errno;
      ::close(copy);
      return fail_errno(number, "reading a folder to empty it");
    }
    while (const dirent* entry = ::readdir(dir.get())) {
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (depth == 0 && folder == top_ && is_moved(name)) continue;
      if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) continue;
      if (errno != EISDIR && errno != EPERM && errno != EACCES) return fail_errno(errno, name);
      BH_TRY(remove_folder(folder, name, depth));
    }
    return {};
  }

  Result<void> remove_folder(int parent, const std::string& name, int depth) {
    Fd child = open_closed(parent, name);
    if (!child) return fail_errno(errno, name);
    ::fchmod(child.get(), 0700);
    if (depth >= kDeepest) return move_up(parent, name);
    BH_TRY(empty(child.get(), depth + 1));
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
      return fail_errno(errno, name);
    }
    return {};
  }

  Result<void> move_up(int parent, const std::string& name) {
    unsigned long long random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) return fail_errno(errno, name);
    // Not to be guessed: a folder of that name in the way would end it.
    std::string moved = ".bh-" + std::to_string(random);
    if (::renameat(parent, name.c_str(), top_, moved.c_str()) != 0) return fail_errno(errno, name);
    moved_.push_back(std::move(moved));
    return {};
  }

  bool is_moved(const std::string& name) const {
    return std::find(moved_.begin(), moved_.end(), name) != moved_.end();
  }

  const int top_;
  std::vector<std::string> moved_;
};

}  // namespace

Result<Fd> open_beneath(int root, const std::string& path, int flags, std::uint32_t mode,
                        bool links) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (!links) how.resolve |= RESOLVE_NO_SYMLINKS;
  for (int tries = 0;; tries++) {
    long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    // The kernel answers EAGAIN when a rename raced with the walk.
    if (errno != EAGAIN || tries == 100) return failed(errno, path);
  }
}

Result<Fd> make_folder(const std::string& path, std::uint32_t mode) {
  if (path.empty() || path[0] != '/') {
    return fail(BH_INVALID_ARGUMENT, "\"" + path + "\" is not an absolute path", "path",
                {{"field", path}});
  }
  for (std::size_t at = 1; at <= path.size(); at++) {
    if (at != path.size() && path[at] != '/') continue;
    std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST && errno != EROFS) {
      return fail_errno(errno, "making the folder " + part);
    }
  }
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "opening the folder " + path);
  return Fd(fd);
}

Result<Fd> make_folder_beneath(int root, const std::string& path, std::uint32_t mode) {
  Fd at(::fcntl(root, F_DUPFD_CLOEXEC, 3));
  if (!at) return fail_errno(errno, path);
  std::size_t begin = 0;
  while (begin < path.size()) {
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    if (::mkdirat(at.get(), part.c_str(), mode) != 0 && errno != EEXIST) return failed(errno, path);
    auto next = open_beneath(at.get(), part, O_RDONLY | O_DIRECTORY);
    if (!next) return tl::unexpected(std::move(next).error());
    at = std::move(*next);
  }
  return at;
}

Result<std::string> read_beneath(int root, const std::string& path, std::size_t limit) {
  auto file = open_beneath(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return tl::unexpected(std::move(file).error());
  struct stat st {};
  if (::fstat(file->get(), &st) != 0) return fail_errno(errno, path);
  if (!S_ISREG(st.st_mode)) {
    return fail(BH_FAILED_PRECONDITION, path + " is not a regular file", "not_regular",
                {{"field", path}});
  }
  std::string out;
  char buffer[65536];
  for (;;) {
    ssize_t n = ::read(file->get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, path);
    if (n == 0) return out;
    if (out.size() + static_cast<std::size_t>(n) > limit) {
      return fail(BH_RESOURCE_EXHAUSTED,
                  path + " is larger than " + std::to_string(limit) + " bytes", "too_large",
                  {{"field", path}});
    }
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> write_beneath(int root, const std::string& path, std::string_view data,
                           std::uint32_t mode) {
  std::string name;
  auto folder = open_parent(root, path, name);
  if (!folder) return tl::unexpected(std::move(folder).error());
  unsigned long long random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return fail_errno(errno, path);
  std::string temporary = ".bh-" + std::to_string(random);
  auto file = open_beneath(folder->get(), temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file) return tl::unexpected(std::move(file).error());
  Result<void> done;
  while (!data.empty() && done) {
    ssize_t n = ::write(file->get(), data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      done = fail_errno(errno, path);
    } else {
      data.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  if (done) done = sync_and_name(std::move(*file), folder->get(), temporary, name);
  if (!done) ::unlinkat(folder->get(), temporary.c_str(), 0);
  return done;
}

Result<void> remove_beneath(int root, const std::string& path) {
  std::string name;
  auto folder = open_parent(root, path, name);
  if (!folder) {
    if (folder.error().code == BH_NOT_FOUND) return {};
    return tl::unexpected(std::move(folder).error());
  }
  if (::unlinkat(folder->get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  Fd tree = open_closed(folder->get(), name);
  if (!tree) return failed(errno, path);
  ::fchmod(tree.get(), 0700);
  BH_TRY(Remover(tree.get()).run());
  if (::unlinkat(folder->get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return fail_errno(errno, path);
  }
  return {};
}

}  // namespace bh
