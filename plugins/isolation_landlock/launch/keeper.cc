#include "keeper.h"

#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <utime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace launch {

using isolation::Fd;
namespace landlock = isolation::landlock;

namespace {

constexpr size_t kMostPath = 4096;  // as the kernel's
constexpr int kWait = 200;          // milliseconds, for a server that does not accept

// The kernel's structures may have grown since our headers were written.
constexpr size_t kRoom = 1024;

std::string own_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// N of "/proc/self/fd/N" and "/dev/fd/N", which lead somewhere else for us than for who asks.
int named_descriptor(const std::string& path) {
  for (const char* start : {"/proc/self/fd/", "/dev/fd/"}) {
    if (path.rfind(start, 0) != 0) continue;
    const char* digits = path.c_str() + ::strlen(start);
    char* end = nullptr;
    const long n = std::strtol(digits, &end, 10);
    if (*digits >= '0' && *digits <= '9' && *end == '\0' && n <= INT32_MAX) {
      return static_cast<int>(n);
    }
  }
  return -1;
}

}  // namespace

int process_of(uint32_t thread) {
  std::string status;
  int process = 0;
  (void)isolation::read_file("/proc/" + std::to_string(thread) + "/status", status, 4096);
  const size_t at = status.find("\nTgid:");
  if (at == std::string::npos || std::sscanf(status.c_str() + at, " Tgid: %d", &process) != 1) {
    return 0;
  }
  return process;
}

void Keeper::serve() {
  if (listener_) return answer();
  std::vector<Fd> got = isolation::receive_fds(mail_.get());
  mail_.reset();
  if (!got.empty()) listener_ = std::move(got[0]);
}

void Keeper::answer() {
  pollfd asked_now{listener_.get(), POLLIN, 0};
  if (::poll(&asked_now, 1, 0) == 1 && (asked_now.revents & POLLIN) == 0) {
    // Nobody is left to ask: before Linux 6.11 reading would wait for them for ever.
    listener_.reset();
    return;
  }
  alignas(8) char room[kRoom] = {};
  auto* note = reinterpret_cast<seccomp_notif*>(room);
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, note) != 0) {
    // Whoever asked is gone already; or nobody is left to ask.
    pollfd left{listener_.get(), POLLIN, 0};
    if (errno != EINTR && (errno != ENOENT || ::poll(&left, 1, 0) < 0 ||
                           (left.revents & (POLLHUP | POLLERR)) != 0)) {
      listener_.reset();
    }
    return;
  }
  Asked asked;
  asked.id = note->id;
  asked.pid = note->pid;
  asked.call = note->data.nr;
  for (size_t i = 0; i < 6; ++i) asked.args[i] = note->data.args[i];
  const long result = act(asked);
  alignas(8) char reply[kRoom] = {};
  auto* response = reinterpret_cast<seccomp_notif_resp*>(reply);
  response->id = asked.id;
  response->val = result < 0 || result == kLetThrough ? 0 : result;
  response->error = result < 0 ? static_cast<int32_t>(result) : 0;
  response->flags = result == kLetThrough ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
  (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, response);
}

long Keeper::act(const Asked& a) {
  auto fd = [&](size_t i) { return static_cast<int>(a.args[i]); };
  auto flag = [&](size_t i, uint64_t bit) { return (a.args[i] & bit) != 0; };
  Fd target;
  switch (a.call) {
#ifdef SYS_chmod
    case SYS_chmod:
      target = target_of(a, AT_FDCWD, a.args[0], true, false);
      return set_mode(target.get(), a.args[1]);
#endif
    case SYS_fchmod:
      target = opened_by(a, fd(0));
      return set_mode(target.get(), a.args[1]);
    case SYS_fchmodat:
      target = target_of(a, fd(0), a.args[1], true, false);
      return set_mode(target.get(), a.args[2]);
    case 452:  // fchmodat2
      target =
          target_of(a, fd(0), a.args[1], !flag(3, AT_SYMLINK_NOFOLLOW), flag(3, AT_EMPTY_PATH));
      return set_mode(target.get(), a.args[2]);
#ifdef SYS_chown
    case SYS_chown:
      target = target_of(a, AT_FDCWD, a.args[0], true, false);
      return set_owner(target.get(), a.args[1], a.args[2]);
#endif
#ifdef SYS_lchown
    case SYS_lchown:
      target = target_of(a, AT_FDCWD, a.args[0], false, false);
      return set_owner(target.get(), a.args[1], a.args[2]);
#endif
    case SYS_fchown:
      target = opened_by(a, fd(0));
      return set_owner(target.get(), a.args[1], a.args[2]);
    case SYS_fchownat:
      target =
          target_of(a, fd(0), a.args[1], !flag(4, AT_SYMLINK_NOFOLLOW), flag(4, AT_EMPTY_PATH));
      return set_owner(target.get(), a.args[2], a.args[3]);
#ifdef SYS_utime
    case SYS_utime:
      target = target_of(a, AT_FDCWD, a.args[0], true, false);
      return set_times(a, target.get(), a.args[1], true);
#endif
#ifdef SYS_utimes
    case SYS_utimes:
      target = target_of(a, AT_FDCWD, a.args[0], true, false);
      return set_times(a, target.get(), a.args[1], false);
#endif
#ifdef SYS_futimesat
    case SYS_futimesat:
      target = a.args[1] == 0 ? opened_by(a, fd(0)) : target_of(a, fd(0), a.args[1], true, false);
      return set_times(a, target.get(), a.args[2], false);
#endif
    case SYS_utimensat:
      target = a.args[1] == 0 ? opened_by(a, fd(0))
                              : target_of(a, fd(0), a.args[1], !flag(3, AT_SYMLINK_NOFOLLOW),
                                          flag(3, AT_EMPTY_PATH));
      return set_times(a, target.get(), a.args[2], false);
    case SYS_inotify_add_watch:
      return watch_folder(a);
    case SYS_connect:
      return connect(a);
    default:
      return signal(a);
  }
}

// By its descriptor in our /proc: a call by number takes none that was opened without rights.
long Keeper::set_mode(int target, uint64_t mode) {
  if (target < 0) return -errno;
  if (!granted(target, landlocked::kOwned)) return -EPERM;
  struct stat st {};
  if (::fstat(target, &st) == 0 && S_ISLNK(st.st_mode)) return -EOPNOTSUPP;
  return ::chmod(own_path(target).c_str(), static_cast<mode_t>(mode & 07777)) == 0 ? 0 : -errno;
}

long Keeper::set_owner(int target, uint64_t owner, uint64_t group) {
  if (target < 0) return -errno;
  if (!granted(target, landlocked::kOwned)) return -EPERM;
  return ::fchownat(target, "", static_cast<uid_t>(owner), static_cast<gid_t>(group),
                    AT_EMPTY_PATH) == 0
             ? 0
             : -errno;
}

long Keeper::set_times(const Asked& asked, int target, uint64_t address, bool seconds) {
  if (target < 0) return -errno;
  timespec times[2] = {};
  if (address != 0 && asked.call == SYS_utimensat) {
    if (!read_memory(asked, address, times, sizeof times)) return -EFAULT;
  } else if (address != 0 && seconds) {
    utimbuf plain{};
    if (!read_memory(asked, address, &plain, sizeof plain)) return -EFAULT;
    times[0].tv_sec = plain.actime;
    times[1].tv_sec = plain.modtime;
  } else if (address != 0) {
    timeval fine[2] = {};
    if (!read_memory(asked, address, fine, sizeof fine)) return -EFAULT;
    for (int i = 0; i < 2; ++i) {
      if (fine[i].tv_usec < 0 || fine[i].tv_usec >= 1000000) return -EINVAL;
      times[i].tv_sec = fine[i].tv_sec;
      times[i].tv_nsec = fine[i].tv_usec * 1000;
    }
  }
  if (!still_asked(asked.id)) return -EINTR;
  if (!granted(target, landlocked::kOwned)) return -EPERM;
  return ::utimensat(target, "", address != 0 ? times : nullptr, AT_EMPTY_PATH) == 0 ? 0 : -errno;
}

long Keeper::watch_folder(const Asked& asked) {
  const auto mask = static_cast<uint32_t>(asked.args[2]);
  const Fd target = target_of(asked, AT_FDCWD, asked.args[1], (mask & IN_DONT_FOLLOW) == 0, false);
  if (!target) return -errno;
  struct stat st {};
  if (::fstat(target.get(), &st) != 0) return -errno;
  if (!granted(target.get(), S_ISDIR(st.st_mode) ? landlock::kReadFolder
                                                 : landlock::kReadFile)) {
    return -EACCES;
  }
  const Fd watches = copy_of(asked, static_cast<int>(asked.args[0]));
  if (!watches) return -errno;
  const int n = ::inotify_add_watch(watches.get(), own_path(target.get()).c_str(),
                                    mask & ~uint32_t{IN_DONT_FOLLOW});
  return n >= 0 ? n : -errno;
}

// To a socket in a folder that the sandbox writes to, which is its own or was put there for it.
long Keeper::connect(const Asked& asked) {
  sockaddr_un name{};
  const auto size = static_cast<size_t>(asked.args[2]);
  constexpr size_t kHead = offsetof(sockaddr_un, sun_path);
  if (size <= kHead || size > sizeof name) return -EINVAL;
  if (!read_memory(asked, asked.args[1], &name, size)) return -EFAULT;
  if (name.sun_family != AF_UNIX || name.sun_path[0] == '\0') return -EPERM;
  const std::string path(name.sun_path, ::strnlen(name.sun_path, size - kHead));
  const Fd target = resolve(asked, AT_FDCWD, path, true);
  if (!target) return -errno;
  if (!granted(target.get(), landlocked::kOwned)) return -EACCES;
  const Fd socket = copy_of(asked, static_cast<int>(asked.args[0]));
  if (!socket) return -errno;
  const std::string ours = own_path(target.get());
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  ::memcpy(to.sun_path, ours.c_str(), ours.size() + 1);
  // A server that does not accept must not keep us from everything else.
  timeval before{};
  socklen_t length = sizeof before;
  const timeval moment{0, kWait * 1000};
  (void)::getsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &before, &length);
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
  const int st = ::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
  const int error = errno;
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &before, sizeof before);
  return st == 0 ? 0 : -error;
}

Fd Keeper::target_of(const Asked& asked, int folder, uint64_t path, bool follow,
                     bool empty_is_folder) {
  std::string text;
  if (!read_text(asked, path, text)) return Fd();
  if (text.empty()) {
    if (empty_is_folder) return opened_by(asked, folder);
    errno = ENOENT;
    return Fd();
  }
  return resolve(asked, folder, text, follow);
}

Fd Keeper::resolve(const Asked& asked, int folder, const std::string& path, bool follow) {
  if (follow && named_descriptor(path) >= 0) return opened_by(asked, named_descriptor(path));
  Fd base;
  if (path[0] == '/') {
    base.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  } else {
    base = opened_by(asked, folder);
  }
  if (!base) return base;
  // No links of /proc: they would be ours, not theirs.
  return Fd(isolation::open_checked(base.get(), path.c_str(), O_PATH | (follow ? 0 : O_NOFOLLOW),
                                    isolation::kNoMagicLinks));
}

// What is open there as that descriptor, or the working folder.
Fd Keeper::opened_by(const Asked& asked, int fd) {
  const std::string process = "/proc/" + std::to_string(asked.pid);
  const std::string path =
      fd == AT_FDCWD ? process + "/cwd" : process + "/fd/" + std::to_string(fd);
  Fd opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened && fd != AT_FDCWD && errno == ENOENT) errno = EBADF;
  if (opened && !still_asked(asked.id)) {
    opened.reset();
    errno = EINTR;
  }
  return opened;
}

// The descriptor itself, for what has no path.
Fd Keeper::copy_of(const Asked& asked, int fd) {
  const Fd process(isolation::pidfd_open(process_of(asked.pid)));
  if (!process || !still_asked(asked.id)) return Fd();
  return Fd(static_cast<int>(::syscall(438, process.get(), fd, 0u)));  // pidfd_getfd
}

bool Keeper::read_memory(const Asked& asked, uint64_t address, void* to, size_t size) {
  iovec here{to, size}, there{reinterpret_cast<void*>(address), size};
  const ssize_t n =
      ::process_vm_readv(static_cast<pid_t>(asked.pid), &here, 1, &there, 1, 0);
  return n == static_cast<ssize_t>(size) && still_asked(asked.id);
}

// Page by page: behind its end there may be nothing.
bool Keeper::read_text(const Asked& asked, uint64_t address, std::string& out) {
  char part[256];
  while (out.size() < kMostPath) {
    const size_t size = sizeof part - address % sizeof part;
    if (!read_memory(asked, address, part, size)) return errno = EFAULT, false;
    const size_t text = ::strnlen(part, size);
    out.append(part, text);
    if (text < size) return true;
    address += size;
  }
  errno = ENAMETOOLONG;
  return false;
}

bool Keeper::still_asked(uint64_t id) const {
  return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

// Where it lies now, and has lain since it was opened or longer: nothing comes into a folder of the
// sandbox from elsewhere, since moves and links between the two take rights on both.
bool Keeper::granted(int target, uint64_t right) const {
  char text[kMostPath + 32];
  const ssize_t n = ::readlink(own_path(target).c_str(), text, sizeof text);
  if (n <= 0 || text[0] != '/' || static_cast<size_t>(n) == sizeof text) return false;
  const std::string_view path(text, static_cast<size_t>(n));
  for (const landlocked::Grant& grant : wall_.grants) {
    if ((grant.rights & right) == 0) continue;
    const std::string_view folder = grant.path;
    const bool within = path.substr(0, folder.size()) == folder &&
                        (path.size() == folder.size() || path[folder.size()] == '/');
    if (within || folder == "/") return true;
  }
  return false;
}

}  // namespace launch
