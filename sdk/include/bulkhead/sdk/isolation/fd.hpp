// bulkhead/sdk/isolation/fd.hpp - file descriptors that close themselves, and the few system calls
// that isolation code makes everywhere. No SDK types here: helper programs include it too.
#ifndef BULKHEAD_SDK_ISOLATION_FD_HPP
#define BULKHEAD_SDK_ISOLATION_FD_HPP

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace bulkhead::sdk::isolation {

// Owns one descriptor, or none (-1).
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    if (this != &o) {
      reset();
      fd_ = std::exchange(o.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  Fd duplicate() const { return Fd(::fcntl(fd_, F_DUPFD_CLOEXEC, 3)); }

 private:
  int fd_ = -1;
};

// All of `data`; errno tells why not.
inline bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// To the end, but no more than `most` bytes; false on an error.
inline bool read_all(int fd, std::string& out, size_t most = SIZE_MAX) {
  char buffer[16384];
  while (out.size() < most) {
    const ssize_t n = ::read(fd, buffer, std::min(sizeof buffer, most - out.size()));
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (n == 0) return true;
    out.append(buffer, static_cast<size_t>(n));
  }
  return true;
}

inline bool read_file_at(int folder, const char* path, std::string& out, size_t most = 1u << 22) {
  const Fd fd(::openat(folder, path, O_RDONLY | O_CLOEXEC));
  return fd && read_all(fd.get(), out, most);
}
inline bool read_file(const std::string& path, std::string& out, size_t most = 1u << 22) {
  return read_file_at(AT_FDCWD, path.c_str(), out, most);
}

// A memory file that holds `data`, positioned at its start.
inline Fd memory_file(const char* name, std::string_view data) {
  Fd fd(static_cast<int>(::syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (fd && (!write_all(fd.get(), data) || ::lseek(fd.get(), 0, SEEK_SET) != 0)) fd.reset();
  return fd;
}

// Nobody can change its bytes any more, not even through /proc/PID/exe.
inline bool seal(int fd) {
  return ::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
}

// openat2, by number: glibc has no wrapper. Fixed layout, as the kernel wants it.
struct OpenHow {
  uint64_t flags = 0;
  uint64_t mode = 0;
  uint64_t resolve = 0;
};
constexpr uint64_t kNoMagicLinks = 0x02;
constexpr uint64_t kNoSymlinks = 0x04;
constexpr uint64_t kBeneath = 0x08;

inline int open_checked(int folder, const char* path, int flags, uint64_t resolve) {
  OpenHow how;
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  for (;;) {
    const long fd = ::syscall(437, folder, path, &how, sizeof how);
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) return static_cast<int>(fd);
  }
}
// An O_PATH descriptor on a canonical absolute path: a link anywhere on the way is ELOOP.
inline Fd open_canonical(const std::string& path) {
  return Fd(open_checked(AT_FDCWD, path.c_str(), O_PATH, kNoSymlinks | kNoMagicLinks));
}
// The same for `path` beneath `folder`.
inline Fd open_beneath(int folder, const std::string& path) {
  return Fd(open_checked(folder, path.c_str(), O_PATH, kBeneath | kNoSymlinks | kNoMagicLinks));
}

inline int pidfd_open(int pid) { return static_cast<int>(::syscall(434, pid, 0u)); }
inline int pidfd_send_signal(int pidfd, int signal) {
  return static_cast<int>(::syscall(424, pidfd, signal, nullptr, 0u));
}
inline int close_range(unsigned first, unsigned last, unsigned flags) {
  return static_cast<int>(::syscall(436, first, last, flags));
}
constexpr unsigned kCloseRangeCloexec = 4;

// Landlock's, or a negative number where the kernel has none or it is off.
inline int landlock_version() { return static_cast<int>(::syscall(444, nullptr, 0, 1)); }
constexpr int kLandlockScopes = 6;

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_FD_HPP
