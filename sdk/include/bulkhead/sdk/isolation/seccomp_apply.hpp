// bulkhead/sdk/isolation/seccomp_apply.hpp - a helper program's side of a filter that the plugin
// made: it reads the instructions from a descriptor and installs them. No libseccomp here.
#ifndef BULKHEAD_SDK_ISOLATION_SECCOMP_APPLY_HPP
#define BULKHEAD_SDK_ISOLATION_SECCOMP_APPLY_HPP

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <string>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

// The kernel takes no program with more.
constexpr size_t kMostInstructions = BPF_MAXINSNS;

// Whole instructions from the file's start, whatever the descriptor's position is.
inline bool read_filter(int fd, std::string& out) {
  constexpr size_t kMost = kMostInstructions * sizeof(sock_filter);
  std::string bytes(kMost + 1, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  if (have == 0 || have > kMost || have % sizeof(sock_filter) != 0) return errno = EINVAL, false;
  bytes.resize(have);
  out = std::move(bytes);
  return true;
}

// For the calling thread and all that it starts from now on; nobody takes it back. Allocates
// nothing: it may run between fork and exec. `bytes` is from read_filter(). errno tells why not.
inline bool apply_filter(std::string_view bytes) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(bytes.size() / sizeof(sock_filter));
  program.filter = const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(bytes.data()));
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u, &program) == 0;
}

inline bool apply_filter(int fd) {
  std::string bytes;
  return read_filter(fd, bytes) && apply_filter(bytes);
}

// The same for a filter that asks (SeccompOptions::ask): the descriptor to listen on, for a process
// outside. None: errno tells why not. As long as nobody holds it, what is asked is ENOSYS.
inline Fd apply_asking_filter(std::string_view bytes) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(bytes.size() / sizeof(sock_filter));
  program.filter = const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(bytes.data()));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Fd();
  constexpr unsigned kListener = 1u << 3;
  // Linux 5.19: a signal does not make a call that is being answered start anew.
  constexpr unsigned kWaitUntilKilled = 1u << 5;
  long fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kListener | kWaitUntilKilled, &program);
  if (fd < 0 && errno == EINVAL) {
    fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kListener, &program);
  }
  return Fd(static_cast<int>(fd));
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SECCOMP_APPLY_HPP
