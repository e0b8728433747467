// bulkhead/sdk/isolation/landlock.hpp - one Landlock domain for a helper program: what the running
// kernel can enforce of it, from the first version (Linux 5.13) to the newest known one, and which
// part that was. The kernel's own constants are written down here, since headers are often older
// than kernels. No SDK types: helper programs include it too.
#ifndef BULKHEAD_SDK_ISOLATION_LANDLOCK_HPP
#define BULKHEAD_SDK_ISOLATION_LANDLOCK_HPP

#include <sys/prctl.h>

#include <cstdint>

#include "fd.hpp"

namespace bulkhead::sdk::isolation::landlock {

// ---- rights on files
constexpr uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2;
constexpr uint64_t kReadFolder = 1u << 3, kRemoveFolder = 1u << 4, kRemoveFile = 1u << 5;
constexpr uint64_t kMakeCharacter = 1u << 6, kMakeFolder = 1u << 7, kMakeFile = 1u << 8;
constexpr uint64_t kMakeSocket = 1u << 9, kMakePipe = 1u << 10, kMakeBlock = 1u << 11;
constexpr uint64_t kMakeLink = 1u << 12;
constexpr uint64_t kMove = 1u << 13;         // version 2: rename and link between folders
constexpr uint64_t kTruncate = 1u << 14;     // version 3
constexpr uint64_t kDeviceIoctl = 1u << 15;  // version 5
constexpr uint64_t kLocalSocket = 1u << 16;  // version 9: connecting to a socket by its path

constexpr uint64_t kReading = kExecute | kReadFile | kReadFolder;
// All that changes what is in a folder. No devices, whatever the rights.
constexpr uint64_t kWriting = kReading | kWriteFile | kRemoveFolder | kRemoveFile | kMakeFolder |
                              kMakeFile | kMakeSocket | kMakePipe | kMakeLink | kMove | kTruncate |
                              kLocalSocket;
// What a rule about a single file may hold; the kernel refuses one with more.
constexpr uint64_t kOfFiles =
    kExecute | kWriteFile | kReadFile | kTruncate | kDeviceIoctl | kLocalSocket;

// ---- rights on ports, version 4
constexpr uint64_t kBindTcp = 1u << 0, kConnectTcp = 1u << 1;

// ---- what stays within the domain, version 6
constexpr uint64_t kAbstractSockets = 1u << 0, kSignals = 1u << 1;

// ---- flags of enforce(), version 7: what of the refusals the audit log gets
constexpr uint32_t kQuiet = 1u << 0;          // nothing from this program
constexpr uint32_t kLogPrograms = 1u << 1;    // also from programs that it becomes
constexpr uint32_t kQuietDomains = 1u << 2;   // nothing from domains made inside this one

struct Handled {
  uint64_t files = 0, ports = 0, scopes = 0;
};

// What a kernel of that version can. Whatever is newer than we know stays as if it were not there.
inline Handled handled_by(int version) {
  Handled h;
  if (version >= 1) h.files = kMove - 1;
  if (version >= 2) h.files |= kMove;
  if (version >= 3) h.files |= kTruncate;
  if (version >= 5) h.files |= kDeviceIoctl;
  if (version >= 9) h.files |= kLocalSocket;
  if (version >= 4) h.ports = kBindTcp | kConnectTcp;
  if (version >= 6) h.scopes = kAbstractSockets | kSignals;
  return h;
}

// Everything that is handled is refused but for what rules allow. Owns the ruleset's descriptor.
class Ruleset {
 public:
  // Handles of `wanted` what this kernel can; see handled(). Empty where it can nothing of it; errno
  // tells. `version`: lower than the kernel's, for tests and for measuring.
  static Ruleset make(const Handled& wanted, int version = landlock_version()) {
    Ruleset made;
    const Handled can = handled_by(version);
    made.version_ = version;
    made.handled_ = {wanted.files & can.files, wanted.ports & can.ports,
                     wanted.scopes & can.scopes};
    // The kernel takes a longer structure than it knows when the rest is zero, as it is then.
    made.fd_.reset(static_cast<int>(::syscall(444, &made.handled_, sizeof made.handled_, 0u)));
    if (made.fd_) (void)::fcntl(made.fd_.get(), F_SETFD, FD_CLOEXEC);
    return made;
  }

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int get() const { return fd_.get(); }
  int version() const { return version_; }
  const Handled& handled() const { return handled_; }

  // For what `fd` (O_PATH will do) is, and all beneath it. What is not handled needs no rule, and
  // what only folders can have is left out for others. errno tells why not.
  bool allow(int fd, uint64_t rights) const {
    struct stat st {};
    if (::fstat(fd, &st) != 0) return false;
    rights &= handled_.files;
    if (!S_ISDIR(st.st_mode)) rights &= kOfFiles;
    if (rights == 0) return true;
    const FileRule rule{rights, fd};
    return ::syscall(445, fd_.get(), 1, &rule, 0u) == 0;
  }

  bool allow_port(uint16_t port, uint64_t rights) const {
    rights &= handled_.ports;
    if (rights == 0) return true;
    const PortRule rule{rights, port};
    return ::syscall(445, fd_.get(), 2, &rule, 0u) == 0;
  }

  // For the calling thread and all that it starts from now on; nobody takes it back. It takes
  // no_new_privs, which it sets. Allocates nothing: it may run between fork and exec.
  bool enforce(uint32_t flags = 0) const {
    if (version_ < 7) flags = 0;
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(446, fd_.get(), flags) == 0;
  }

 private:
  // As the kernel wants them.
  struct __attribute__((packed)) FileRule {
    uint64_t allowed;
    int32_t parent;
  };
  struct PortRule {
    uint64_t allowed, port;
  };

  Fd fd_;
  int version_ = 0;
  Handled handled_;
};

}  // namespace bulkhead::sdk::isolation::landlock

#endif  // BULKHEAD_SDK_ISOLATION_LANDLOCK_HPP
