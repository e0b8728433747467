// Runs inside a sandbox: tries one thing on one object and prints "ok" or the errno. Static, so
// that it runs whatever the sandbox shows.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace {

using Try = std::function<long(const char*)>;

int look(const char* path) { return ::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); }
int handle(const char* path) { return ::open(path, O_PATH | O_CLOEXEC); }
std::string by_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }
std::string of_process(const std::string& pid, const char* file) {
  return "/proc/" + pid + "/" + file;
}
int number(const char* text) { return std::atoi(text); }
long call(long no, long a, long b = 0, long c = 0, long d = 0, long e = 0) {
  return ::syscall(no, a, b, c, d, e, 0L);
}
long at(const void* p) { return reinterpret_cast<long>(p); }

constexpr timespec kOld[2] = {{1000000000, 0}, {1000000000, 0}};
constexpr timeval kOldFine[2] = {{1000000000, 0}, {1000000000, 0}};

// The folder of a path and its last part.
long in_folder(const char* path, const std::function<long(int, const char*)>& act) {
  const std::string text = path;
  const size_t cut = text.rfind('/');
  const int folder = ::open(text.substr(0, cut).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  return act(folder, text.c_str() + cut + 1);
}

long connect_local(const char* path, bool abstract) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const size_t size = ::strlen(path);
  ::memcpy(name.sun_path + (abstract ? 1 : 0), path, size);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  char byte = 0;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&name), length) != 0) return -1;
  return ::read(fd, &byte, 1) == 1 && byte == 'y' ? 0 : (errno = EIO, -1);
}

// Serves one connection, with one byte, to whoever comes from the same sandbox.
long serve_local(const char* path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  ::strcpy(name.sun_path, path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 || ::listen(fd, 1) != 0) {
    return -1;
  }
  const pid_t child = ::fork();
  if (child == 0) ::_exit(connect_local(path, false) == 0 ? 0 : errno);
  const int peer = ::accept(fd, nullptr, nullptr);
  (void)!::write(peer, "y", 1);
  return peer < 0 ? -1 : 0;
}

long connect_tcp(const char* port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<uint16_t>(number(port)));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd < 0 ? -1 : ::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name);
}

const std::map<std::string, Try>& tries() {
  static const std::map<std::string, Try> all = {
      // modes
      {"chmod", [](const char* p) { return ::chmod(p, 0711); }},
      {"fchmod", [](const char* p) { return ::fchmod(look(p), 0711); }},
      {"fchmodat",
       [](const char* p) {
         return in_folder(p, [](int f, const char* n) { return ::fchmodat(f, n, 0711, 0); });
       }},
      {"fchmodat2",
       [](const char* p) { return call(452, handle(p), at(""), 0711, AT_EMPTY_PATH); }},
      {"chmod_by_descriptor",
       [](const char* p) { return ::chmod(by_descriptor(handle(p)).c_str(), 0711); }},
      // owners; to what they are already
      {"chown", [](const char* p) { return ::chown(p, ::getuid(), ::getgid()); }},
      {"lchown", [](const char* p) { return ::lchown(p, ::getuid(), ::getgid()); }},
      {"fchown", [](const char* p) { return ::fchown(look(p), ::getuid(), ::getgid()); }},
      {"fchownat",
       [](const char* p) {
         return ::fchownat(handle(p), "", ::getuid(), ::getgid(), AT_EMPTY_PATH);
       }},
      // times
      {"utime",
       [](const char* p) {
         const utimbuf old{1000000000, 1000000000};
         return ::utime(p, &old);
       }},
      {"utimes", [](const char* p) { return ::utimes(p, kOldFine); }},
      {"futimesat",
       [](const char* p) { return call(SYS_futimesat, AT_FDCWD, at(p), at(kOldFine)); }},
      {"utimensat", [](const char* p) { return ::utimensat(AT_FDCWD, p, kOld, 0); }},
      {"utimensat_link",
       [](const char* p) { return ::utimensat(AT_FDCWD, p, kOld, AT_SYMLINK_NOFOLLOW); }},
      {"futimens", [](const char* p) { return ::futimens(look(p), kOld); }},
      {"utimensat_now", [](const char* p) { return ::utimensat(AT_FDCWD, p, nullptr, 0); }},
      // attributes
      {"setxattr", [](const char* p) { return ::setxattr(p, "user.bulkhead", "x", 1, 0); }},
      {"fsetxattr", [](const char* p) { return ::fsetxattr(look(p), "user.bulkhead", "x", 1, 0); }},
      {"removexattr", [](const char* p) { return ::removexattr(p, "user.bulkhead"); }},
      {"setflags",
       [](const char* p) {
         long flags = 0x80;  // no access times
         return ::ioctl(look(p), 0x40086602, &flags);
       }},
      {"getflags",
       [](const char* p) {
         long flags = 0;
         return ::ioctl(look(p), 0x80086601, &flags);
       }},
      {"subvolume", [](const char* p) { return ::ioctl(look(p), 0x5000940E, nullptr); }},
      // contents, without opening for writing
      {"truncate", [](const char* p) { return ::truncate(p, 0); }},
      {"open_truncate", [](const char* p) { return ::open(p, O_RDONLY | O_TRUNC); }},
      {"read", [](const char* p) { return look(p); }},
      {"list", [](const char* p) { return ::open(p, O_RDONLY | O_DIRECTORY); }},
      {"write", [](const char* p) { return ::open(p, O_WRONLY | O_NONBLOCK); }},
      {"make", [](const char* p) { return ::open(p, O_WRONLY | O_CREAT | O_EXCL, 0600); }},
      {"remove", [](const char* p) { return ::unlink(p); }},
      {"watch",
       [](const char* p) { return ::inotify_add_watch(::inotify_init1(0), p, IN_ALL_EVENTS); }},
      {"read_by_descriptor", [](const char* p) { return look(by_descriptor(handle(p)).c_str()); }},
      {"link_here", [](const char* p) { return ::link(p, "taken"); }},
      {"move_here", [](const char* p) { return ::rename(p, "taken"); }},
      {"handle", [](const char* p) { return call(SYS_name_to_handle_at, AT_FDCWD, at(p)); }},
      // sockets
      {"connect", [](const char* p) { return connect_local(p, false); }},
      {"connect_abstract", [](const char* p) { return connect_local(p, true); }},
      {"serve", &serve_local},
      {"tcp", &connect_tcp},
      // other processes
      {"signal", [](const char* p) { return ::kill(number(p), 0); }},
      {"thread_signal", [](const char* p) { return call(SYS_tgkill, number(p), number(p), 0); }},
      {"pidfd_signal",
       [](const char* p) { return call(424, call(434, number(p), 0), 0, 0, 0); }},
      {"limits",
       [](const char* p) {
         rlimit l{};
         return ::prlimit(number(p), RLIMIT_CORE, nullptr, &l);
       }},
      {"priority", [](const char* p) { return ::setpriority(PRIO_PROCESS, number(p), 5); }},
      {"user_priority", [](const char*) { return ::setpriority(PRIO_USER, 0, 5); }},
      {"processors",
       [](const char* p) {
         cpu_set_t set;
         CPU_ZERO(&set);
         CPU_SET(0, &set);
         return ::sched_setaffinity(number(p), sizeof set, &set);
       }},
      {"io_priority", [](const char* p) { return call(SYS_ioprio_set, 1, number(p), 0x4001); }},
      {"process_read",
       [](const char* p) { return call(SYS_process_vm_readv, number(p)); }},
      {"arguments", [](const char* p) { return look(of_process(p, "cmdline").c_str()); }},
      {"variables", [](const char* p) { return look(of_process(p, "environ").c_str()); }},
      // what the machine shares
      {"segment", [](const char* p) { return ::shmget(number(p), 4096, 0600); }},
      {"new_segment", [](const char*) { return ::shmget(IPC_PRIVATE, 4096, 0600); }},
      {"queue", [](const char* p) { return call(SYS_mq_open, at(p), O_RDONLY, 0600, 0); }},
  };
  return all;
}

// Descriptors beside 0, 1 and 2.
void count_descriptors() {
  int open = 0;
  for (int fd = 3; fd < 4096; ++fd) open += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  std::printf("%d\n", open);
}

void count_capabilities() {
  uint32_t head[2] = {0x20080522, 0}, data[6] = {};
  int bounding = 0;
  for (int one = 0; one < 64; ++one) bounding += ::prctl(PR_CAPBSET_READ, one, 0, 0, 0) == 1;
  const long st = call(SYS_capget, at(head), at(data));
  std::printf("%ld %u %u %u %u %d %d\n", st, data[0], data[1], data[3], data[4], bounding,
              ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

}  // namespace

// OBJECT TRY...: one word per try.
int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "descriptors") return count_descriptors(), 0;
  if (argc == 2 && std::string(argv[1]) == "capabilities") return count_capabilities(), 0;
  for (int i = 2; i < argc; ++i) {
    const auto it = tries().find(argv[i]);
    if (it == tries().end()) return 2;
    errno = 0;
    const long result = it->second(argv[1]);
    std::printf("%s%s", i > 2 ? " " : "", result >= 0 ? "ok" : std::to_string(errno).c_str());
  }
  std::printf("\n");
  return 0;
}
