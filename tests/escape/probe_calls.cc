// System calls that lead out of sandboxes, and the ways to make files that run as their owner.
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "probe.h"

namespace probe {

namespace {

// Root of its own mounts: what mounts and masks do here stays here.
bool leave() {
  const std::string id = std::to_string(::geteuid());
  const bool root = ::geteuid() == 0;
  if (::unshare(root ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (!root) {  // who has no id makes no further namespace
    const int map = ::open("/proc/self/uid_map", O_WRONLY);
    const std::string line = "0 " + id + " 1";
    if (::write(map, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return false;
    ::close(map);
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

// Arguments are chosen so that a call which passes all checks of rights fails after them: reboot
// without its magic number, the clock without a time.
void calls(bool alone) {
  if (alone) before = leave;
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
  attempt("name_to_handle_at", [] {
    struct {
      unsigned bytes = 64;
      int type = 0;
      char rest[64] = {};
    } handle;
    int mount = 0;
    return call(SYS_name_to_handle_at, AT_FDCWD, text("/"), reinterpret_cast<long>(&handle),
                reinterpret_cast<long>(&mount), 0);
  });
  attempt("open_tree_attr", [] {
    uint64_t attributes[4] = {};
    return call(467, AT_FDCWD, text("/"), 1, reinterpret_cast<long>(attributes), 32);
  });
  attempt("move_mount",
          [] { return call(429, AT_FDCWD, text("/tmp"), AT_FDCWD, text("/tmp"), 0); });
  attempt("unshare_user", [] { return ::unshare(CLONE_NEWUSER); });
  attempt("unshare_net", [] { return ::unshare(CLONE_NEWNET); });
  attempt("unshare_time", [] { return call(SYS_unshare, 0x80); });
  attempt("clone_user", [] {
    const long pid = call(SYS_clone, CLONE_NEWUSER | SIGCHLD);
    if (pid == 0) ::_exit(0);
    return pid;
  });
  attempt("clone3", [] { return call(435, 0, 0); });
  attempt("setns", [] { return call(SYS_setns, ::open("/proc/self/ns/user", O_RDONLY), 0); });
  attempt("ptrace", [] { return call(SYS_ptrace, PTRACE_TRACEME, 0); });
  attempt("process_vm_readv", [] { return call(SYS_process_vm_readv, ::getpid(), 0, 0, 0, 0, 0); });
  attempt("process_vm_writev",
          [] { return call(SYS_process_vm_writev, ::getpid(), 0, 0, 0, 0, 0); });
  attempt("process_madvise", [] { return call(440, -1, 0, 0, 0, 0); });
  attempt("kcmp", [] { return call(SYS_kcmp, ::getpid(), ::getpid(), 1, 0, 0); });
  attempt("pidfd_getfd", [] { return call(438, 0, 0, 0); });
  attempt("keyctl", [] { return call(SYS_keyctl, 0, -3, 0); });
  attempt("request_key", [] { return call(SYS_request_key, text("user"), text("absent"), 0, 0); });
  attempt("add_key", [] { return call(SYS_add_key, text("user"), text("a"), text("b"), 1, -3); });
  attempt("bpf", [] { return call(SYS_bpf, 0, 0, 0); });
  attempt("perf_event_open", [] { return call(SYS_perf_event_open, 0, 0, -1, -1, 0); });
  attempt("userfaultfd", [] { return call(SYS_userfaultfd, 1); });
  attempt("io_uring_setup", [] {
    char params[256] = {};
    return call(425, 1, reinterpret_cast<long>(params));
  });
  attempt("io_uring_enter", [] { return call(426, -1, 0, 0, 0, 0, 0); });
  attempt("io_uring_register", [] { return call(427, -1, 0, 0, 0); });
  attempt("kexec_load", [] { return call(SYS_kexec_load, 0, 0, 0, 0xFFFF); });
  attempt("init_module", [] { return call(SYS_init_module, 0, 0, 0); });
  attempt("reboot", [] { return call(SYS_reboot, 0, 0, 0, 0); });
  attempt("finit_module", [] { return call(SYS_finit_module, -1, text(""), 0); });
  attempt("delete_module", [] { return call(SYS_delete_module, text("absent"), O_NONBLOCK); });
  attempt("swapon", [] { return call(SYS_swapon, text("/absent"), 0); });
  attempt("acct", [] { return call(SYS_acct, text("/absent/file")); });
  attempt("quotactl_fd", [] { return call(443, -1, 0, 0, 0); });
  attempt("quotactl", [] { return call(SYS_quotactl, 0, 0, 0, 0); });
  attempt("settimeofday", [] { return call(SYS_settimeofday, 0, 0); });
  attempt("clock_settime", [] { return call(SYS_clock_settime, CLOCK_MONOTONIC, 0); });
  attempt("personality_norandomize", [] { return call(SYS_personality, 0x0040000); });
  attempt("syslog", [] { return call(SYS_syslog, 3, 0, 0); });
  attempt("fanotify_init", [] { return call(SYS_fanotify_init, 0x200 /* report ids */, 0); });
  attempt("tiocsti", [] {
    char c = 'x';
    return ::ioctl(0, TIOCSTI, &c);
  });
  // The kernel looks at the lower half alone.
  attempt("tiocsti_high", [] {
    char c = 'x';
    return call(SYS_ioctl, 0, 0x100000000L | TIOCSTI, reinterpret_cast<long>(&c));
  });
  attempt("mknod_device", [] { return ::mknod("device", S_IFCHR | 0600, makedev(1, 3)); });
  (void)::unlink("device");
  attempt("tioclinux", [] {
    char c = 3;
    return ::ioctl(0, TIOCLINUX, &c);
  });
  attempt("tiocsetd", [] {
    int discipline = 0;
    return ::ioctl(0, TIOCSETD, &discipline);
  });
  attempt("openat2", [] {
    uint64_t how[3] = {O_RDONLY, 0, 0};
    return call(437, AT_FDCWD, text("/"), reinterpret_cast<long>(how), sizeof how);
  });
  attempt("unknown", [] { return call(600); });
  attempt("real_time", [] {
    sched_param p{};
    p.sched_priority = 1;
    return ::sched_setscheduler(0, SCHED_FIFO, &p);
  });
  attempt("nice_minus", [] { return ::setpriority(PRIO_PROCESS, 0, -20); });
#ifdef __x86_64__
  // Numbers of the 32-bit table: 20 is getpid there, writev here.
  attempt("int80", [] {
    long result = 0;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    errno = static_cast<int>(-result);
    return result;
  });
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
    tried("chmod",
          [](int, const char* path, long mode) { return call(SYS_chmod, text(path), mode); });
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

}  // namespace probe
