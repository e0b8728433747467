// Runs inside a sandbox and tries what must not work there; each try is one line "NAME ok" or
// "NAME ERRNO". Static, so that it runs whatever the sandbox shows.
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

namespace {

void say(const char* name, long result) {
  std::printf("%s %s\n", name, result >= 0 ? "ok" : std::to_string(errno).c_str());
  std::fflush(stdout);
}

// In a child, so that what does work spoils nothing for the next try.
template <class Try>
void attempt(const char* name, Try what) {
  const pid_t child = ::fork();
  if (child == 0) {
    say(name, what());
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return ::syscall(number, a, b, c, d, e, f);
}
long text(const char* s) { return reinterpret_cast<long>(s); }

void calls() {
  attempt("mount", [] { return ::mount("none", "/tmp", "tmpfs", 0, nullptr); });
  attempt("remount_rw",
          [] { return ::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr); });
  attempt("umount", [] { return ::umount2("/run", MNT_DETACH); });
  attempt("pivot_root", [] { return call(SYS_pivot_root, text("/tmp"), text("/tmp")); });
  attempt("chroot", [] { return ::chroot("/tmp"); });
  attempt("fsopen", [] { return call(430, text("tmpfs"), 0); });
  attempt("open_tree_clone", [] { return call(428, AT_FDCWD, text("/"), 1); });
  attempt("mount_setattr", [] {
    uint64_t attributes[4] = {};
    return call(442, AT_FDCWD, text("/"), 0, reinterpret_cast<long>(attributes), 32);
  });
  attempt("open_by_handle_at", [] { return call(SYS_open_by_handle_at, AT_FDCWD, 0, 0); });
  attempt("unshare_user", [] { return ::unshare(CLONE_NEWUSER); });
  attempt("unshare_net", [] { return ::unshare(CLONE_NEWNET); });
  attempt("unshare_time", [] { return call(SYS_unshare, 0x80); });
  attempt("clone_user", [] {
    const long pid = call(SYS_clone, CLONE_NEWUSER | SIGCHLD);
    if (pid == 0) ::_exit(0);
    return pid;
  });
  attempt("clone3", [] { return call(435, 0, 0); });
  attempt("setns", [] { return call(SYS_setns, ::open("/proc/1/ns/user", O_RDONLY), 0); });
  attempt("ptrace", [] { return call(SYS_ptrace, PTRACE_ATTACH, 1); });
  attempt("process_vm_readv", [] { return call(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0); });
  attempt("pidfd_getfd", [] { return call(438, 0, 0, 0); });
  attempt("keyctl", [] { return call(SYS_keyctl, 0, -3, 0); });
  attempt("add_key", [] { return call(SYS_add_key, text("user"), text("a"), text("b"), 1, -3); });
  attempt("bpf", [] { return call(SYS_bpf, 0, 0, 0); });
  attempt("perf_event_open", [] { return call(SYS_perf_event_open, 0, 0, -1, -1, 0); });
  attempt("userfaultfd", [] { return call(SYS_userfaultfd, 1); });
  attempt("io_uring_setup", [] {
    char params[256] = {};
    return call(425, 1, reinterpret_cast<long>(params));
  });
  attempt("kexec_load", [] { return call(SYS_kexec_load, 0, 0, 0, 0); });
  attempt("init_module", [] { return call(SYS_init_module, 0, 0, 0); });
  attempt("reboot", [] { return call(SYS_reboot, 0xfee1dead, 672274793, 0, 0); });
  attempt("swapon", [] { return call(SYS_swapon, text("/tmp"), 0); });
  attempt("acct", [] { return call(SYS_acct, 0); });
  attempt("quotactl", [] { return call(SYS_quotactl, 0, 0, 0, 0); });
  attempt("settimeofday", [] {
    timeval t{0, 0};
    return call(SYS_settimeofday, reinterpret_cast<long>(&t), 0);
  });
  attempt("personality_norandomize", [] { return call(SYS_personality, 0x0040000); });
  attempt("syslog", [] { return call(SYS_syslog, 3, 0, 0); });
  attempt("fanotify_init", [] { return call(SYS_fanotify_init, 0, 0); });
  attempt("tiocsti", [] {
    char c = 'x';
    return ::ioctl(0, TIOCSTI, &c);
  });
  // The kernel looks at the lower half alone.
  attempt("tiocsti_high", [] {
    char c = 'x';
    return call(SYS_ioctl, 0, 0x100000000L | TIOCSTI, reinterpret_cast<long>(&c));
  });
  attempt("mknod_device", [] { return ::mknod("/tmp/device", S_IFCHR | 0666, makedev(1, 1)); });
#ifdef __x86_64__
  attempt("x32_getpid", [] { return call(0x40000000L | SYS_getpid); });
#endif
  attempt("capabilities", [] {
    errno = 0;
    long any = 0;
    for (int i = 0; i < 64; ++i) any |= ::prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1;
    return any != 0 ? 0L : -1L;
  });
  attempt("new_privileges", [] {
    errno = 0;
    return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? -1L : 0L;
  });
}

// Every way to make a file that runs as its owner or group. The names tell what to look for on the
// host too.
void set_ids() {
  for (const int bit : {04000, 02000}) {
    const char* const which = bit == 04000 ? "uid_" : "gid_";
    auto tried = [&](const char* how, long (*what)(int fd, const char* path, long mode)) {
      const std::string name = std::string(which) + how;
      const int fd = ::open(name.c_str(), O_CREAT | O_WRONLY, 0700);
      attempt(name.c_str(), [&] { return what(fd, name.c_str(), bit | 0711); });
      ::close(fd);
    };
    auto made = [&](const char* how, long (*what)(const char* path, long mode)) {
      const std::string name = std::string(which) + how;
      attempt(name.c_str(), [&] { return what(name.c_str(), bit | 0711); });
    };
    tried("fchmod", [](int fd, const char*, long mode) { return call(SYS_fchmod, fd, mode); });
    tried("fchmodat", [](int, const char* path, long mode) {
      return call(SYS_fchmodat, AT_FDCWD, text(path), mode);
    });
    tried("fchmodat2", [](int, const char* path, long mode) {
      return call(452, AT_FDCWD, text(path), mode, 0);
    });
    made("openat", [](const char* path, long mode) {
      return call(SYS_openat, AT_FDCWD, text(path), O_CREAT | O_WRONLY, mode);
    });
    made("openat2", [](const char* path, long mode) {
      uint64_t how[3] = {O_CREAT | O_WRONLY, static_cast<uint64_t>(mode), 0};
      return call(437, AT_FDCWD, text(path), reinterpret_cast<long>(how), sizeof how);
    });
    made("tmpfile", [](const char*, long mode) {
      return call(SYS_openat, AT_FDCWD, text("."), O_TMPFILE | O_WRONLY, mode);
    });
    made("mknodat", [](const char* path, long mode) {
      return call(SYS_mknodat, AT_FDCWD, text(path), S_IFREG | mode, 0);
    });
#ifdef __x86_64__
    tried("chmod", [](int, const char* path, long mode) { return call(SYS_chmod, text(path), mode); });
    made("open", [](const char* path, long mode) {
      return call(SYS_open, text(path), O_CREAT | O_WRONLY, mode);
    });
    made("creat", [](const char* path, long mode) { return call(SYS_creat, text(path), mode); });
    made("mknod", [](const char* path, long mode) {
      return call(SYS_mknod, text(path), S_IFREG | mode, 0);
    });
#endif
  }
  // Must work: bits in the mode's register where no file is made, and every other mode.
  attempt("plain_open", [] { return call(SYS_openat, AT_FDCWD, text("."), O_RDONLY, 06777); });
  attempt("plain_chmod", [] { return call(SYS_fchmodat, AT_FDCWD, text("."), 01755); });
}

void sockets() {
  struct Family {
    const char* name;
    int family, type;
  };
  for (const Family& f : {Family{"vsock", 40, SOCK_STREAM},
                          {"packet", AF_PACKET, SOCK_RAW},
                          {"alg", 38, SOCK_SEQPACKET},
                          {"key", 15, SOCK_RAW},
                          {"bluetooth", 31, SOCK_RAW},
                          {"tipc", 30, SOCK_RDM},
                          {"raw", AF_INET, SOCK_RAW}}) {
    attempt(f.name, [&] { return ::socket(f.family, f.type, f.family == AF_INET ? 1 : 0); });
    // Refused by us is EPERM; any other error means that the family's module was asked for.
    int pair[2];
    if (f.family != AF_INET) {
      attempt((std::string(f.name) + "_pair").c_str(),
              [&] { return ::socketpair(f.family, f.type, 0, pair); });
    }
  }
  attempt("sctp", [] { return ::socket(AF_INET, SOCK_STREAM, 132); });
  attempt("udplite", [] { return ::socket(AF_INET6, SOCK_DGRAM, 136); });
  attempt("netlink_audit", [] { return ::socket(AF_NETLINK, SOCK_RAW, 9); });
  attempt("local", [] { return ::socket(AF_UNIX, SOCK_STREAM, 0); });
  attempt("pair", [] {
    int pair[2];
    return ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  });
}

// connect to a socket by path; '@' in front: an abstract one.
long reach(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  socklen_t size = sizeof address;
  if (path[0] == '@') {
    address.sun_path[0] = 0;
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + ::strlen(path));
  }
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&address), size);
}

// Swaps what PATH is, folder and link in turn, until it is ended.
void swap(const char* path, const char* other) {
  const std::string link = std::string(path) + ".link", folder = std::string(path) + ".folder";
  (void)::symlink(other, link.c_str());
  for (;;) {
    (void)::syscall(SYS_renameat2, AT_FDCWD, link.c_str(), AT_FDCWD, path, 2 /* exchange */);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "calls") calls();
  if (what == "sockets") sockets();
  if (what == "set_ids") set_ids();
  if (what == "reach" && argc > 2) say("reach", reach(argv[2]));
  if (what == "write" && argc > 2) say("write", ::open(argv[2], O_WRONLY));
  if (what == "swap" && argc > 3) swap(argv[2], argv[3]);
  if (what == "ignore") {
    for (int i = 1; i < 32; ++i) ::signal(i, SIG_IGN);
    std::printf("ready\n");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  if (what == "bomb") {
    for (;;) (void)::fork();
  }
  return 0;
}
