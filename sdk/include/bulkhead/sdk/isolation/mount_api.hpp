// bulkhead/sdk/isolation/mount_api.hpp - the new mount API by number and layout, since neither glibc
// 2.36 nor older kernel headers have all of it, and id maps for mounts. No SDK types here: helper
// programs include it.
#ifndef BULKHEAD_SDK_ISOLATION_MOUNT_API_HPP
#define BULKHEAD_SDK_ISOLATION_MOUNT_API_HPP

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

constexpr unsigned kTreeClone = 1;
constexpr unsigned kTreeRecursive = 0x8000;
constexpr unsigned kTreeEmptyPath = 0x1000;

constexpr uint64_t kMountReadOnly = 0x1, kMountNoSuid = 0x2, kMountNoDevices = 0x4,
                   kMountNoExecute = 0x8, kMountIdMap = 0x100000;

constexpr uint64_t kPropagatePrivate = 1u << 18;

struct MountAttributes {
  uint64_t set = 0, clear = 0, propagation = 0, users = 0;
};

// Of the mount that `fd` is on; `flags`: kTreeRecursive.
inline int set_mount(int fd, unsigned flags, const MountAttributes& a) {
  return static_cast<int>(::syscall(442, fd, "", kTreeEmptyPath | flags, &a, sizeof a));
}

// A detached copy of what is mounted at `fd`; `flags`: kTreeRecursive. A copy of a shared mount is its
// peer, wherever it is moved: what a sandbox mounts in it would be mounted on the host as well, and
// the other way round. So it is made private at once.
inline Fd copy_tree(int fd, unsigned flags) {
  Fd tree(static_cast<int>(
      ::syscall(428, fd, "", kTreeEmptyPath | kTreeClone | O_CLOEXEC | flags)));
  MountAttributes a;
  a.propagation = kPropagatePrivate;
  if (tree && set_mount(tree.get(), flags, a) != 0) tree.reset();
  return tree;
}
// Onto what `to` is.
inline int move_mount(int from, int to) {
  return static_cast<int>(::syscall(429, from, "", to, "", 0x04 | 0x40));
}

// Every id as it is, but for `from`, which is shown as `to`: the text of a uid_map or gid_map.
inline std::string swapped_id(uint32_t from, uint32_t to) {
  std::string lines;
  uint64_t at = 0;
  auto same_until = [&](uint64_t end) {
    if (end > at) {
      const std::string n = std::to_string(at);
      lines += n + " " + n + " " + std::to_string(end - at) + "\n";
    }
    at = end + 1;
  };
  same_until(std::min(from, to));
  same_until(std::max(from, to));
  same_until(UINT32_MAX);
  return lines + std::to_string(from) + " " + std::to_string(to) + " 1\n";
}

inline bool write_text(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write_all(fd.get(), text);
}

// User namespaces that carry the id map of a mount. Single-threaded.
class MountUsers {
 public:
  // Owned by this object; -1 where it cannot be made.
  int get(const std::string& uids, const std::string& gids) {
    Fd& known = known_[{uids, gids}];
    if (!known) known = make(uids, gids);
    return known.get();
  }

 private:
  // Held by a process for the moment that it takes to open it; that one ends with the other end of
  // its pipe, since we may be killed here, and the signal for a parent's death is dropped by
  // unshare().
  static Fd make(const std::string& uids, const std::string& gids) {
    int pipe[2], life[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return {};
    Fd ready(pipe[0]), tell(pipe[1]);
    if (::pipe2(life, O_CLOEXEC) != 0) return {};
    Fd ours_is_gone(life[0]), ours(life[1]);
    const pid_t holder = ::fork();
    if (holder < 0) return {};
    if (holder == 0) {
      ours.reset();
      char byte = ::unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
      (void)!::write(tell.get(), &byte, 1);
      (void)!::read(ours_is_gone.get(), &byte, 1);
      ::_exit(0);
    }
    tell.reset();
    char byte = 0;
    Fd users;
    const std::string proc = "/proc/" + std::to_string(holder);
    if (::read(ready.get(), &byte, 1) == 1 && byte == 'y' && write_text(proc + "/uid_map", uids) &&
        write_text(proc + "/gid_map", gids)) {
      users.reset(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    } else if (byte == 'n') {
      errno = EPERM;
    }
    const int error = errno;
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);
    errno = error;
    return users;
  }

  std::map<std::pair<std::string, std::string>, Fd> known_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_MOUNT_API_HPP
