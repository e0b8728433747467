// bulkhead/sdk/isolation/seccomp_allow.hpp - the system calls that sandboxed programs need, and no
// others, as a filter: what containers are given without any capability, less what has led out of
// sandboxes. A refusal is EPERM, never a kill: programs try and go on. What programs can do without
// and look for again and again (clone3, openat2, calls newer than this list) is ENOSYS, as from an
// older kernel. Link libseccomp; a helper program installs the filter by seccomp_apply.hpp.
#ifndef BULKHEAD_SDK_ISOLATION_SECCOMP_ALLOW_HPP
#define BULKHEAD_SDK_ISOLATION_SECCOMP_ALLOW_HPP

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../result.hpp"
#include "fd.hpp"
#include "seccomp_code.hpp"

namespace bulkhead::sdk::isolation {

struct SeccompOptions {
  // For a sandbox whose named capabilities ("packages") go with them.
  bool chroot = false;
  bool set_id_modes = false;  // files that run on the host as whoever owns them there

  // Where no namespace stands between a sandbox and the host.
  bool internet = true;      // sockets of IPv4, IPv6 and netlink's routes
  bool host_sockets = true;  // false: no local socket can be connected to, or sent to by name
  bool shared_ipc = true;    // System V and POSIX queues, segments and semaphores
  bool other_processes = true;  // false: limits, priorities and processors of one's own alone
  bool other_signals = true;    // false: signals are asked about; see `ask`
  bool path_truncate = true;    // false: files are emptied through descriptors for writing alone
  // What Landlock does not cover (modes, owners, times, watching a folder, connecting to a local
  // socket) is put to whoever holds the filter's listener: apply_asking_filter(). Attributes and a
  // file system's own commands are refused.
  bool ask = false;
};

namespace detail {

// Names, so that one which this architecture does not have is left out.
constexpr const char* kAllowedCalls[] = {
    // files and folders
    "access", "chdir", "close", "close_range", "copy_file_range", "dup", "dup2", "dup3",
    "faccessat", "faccessat2", "fadvise64", "fadvise64_64", "fallocate", "fchdir", "fdatasync",
    "fgetxattr", "flistxattr", "flock", "fstat", "fstat64", "fstatat64", "fstatfs", "fstatfs64",
    "fsync", "ftruncate", "ftruncate64", "getcwd", "getdents", "getdents64", "getxattr",
    "lgetxattr", "link", "linkat", "listxattr", "llistxattr", "_llseek", "lseek", "lstat",
    "lstat64", "mkdir", "mkdirat", "newfstatat", "pread64", "preadv", "preadv2", "pwrite64",
    "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv", "rename",
    "renameat", "renameat2", "rmdir", "sendfile", "sendfile64", "splice", "stat", "stat64",
    "statfs", "statfs64", "statx", "symlink", "symlinkat", "sync", "sync_file_range",
    "sync_file_range2", "syncfs", "tee", "umask", "unlink", "unlinkat", "vmsplice", "write",
    "writev",
    // waiting, events, and the old kind of asynchronous files
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2",
    "epoll_wait", "epoll_wait_old", "eventfd", "eventfd2", "inotify_init", "inotify_init1",
    "inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
    "io_pgetevents_time64", "io_setup", "io_submit", "_newselect", "pause", "pipe", "pipe2", "poll",
    "ppoll", "ppoll_time64", "pselect6", "pselect6_time64", "select", "signalfd", "signalfd4",
    // sockets, once made
    "accept", "accept4", "bind", "getpeername", "getsockname", "getsockopt", "listen", "recv",
    "recvfrom", "recvmmsg", "recvmmsg_time64", "recvmsg", "send", "sendmmsg", "sendmsg", "sendto",
    "setsockopt", "shutdown",
    // memory
    "brk", "madvise", "membarrier", "memfd_create", "memfd_secret", "mincore", "mlock", "mlock2",
    "mlockall", "mmap", "mmap2", "mprotect", "mremap", "msync", "munlock", "munlockall", "munmap",
    "pkey_alloc", "pkey_free", "pkey_mprotect", "remap_file_pages",
    // processes, threads and their scheduling
    "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_time64",
    "get_robust_list", "get_thread_area", "getcpu", "getpgid", "getpgrp", "getpid", "getppid",
    "getpriority", "getrlimit", "getrusage", "getsid", "gettid", "ioprio_get",
    "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "pidfd_open",
    "prctl", "process_mrelease", "restart_syscall", "rseq",
    "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
    "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_rr_get_interval_time64",
    "sched_yield", "seccomp", "set_robust_list", "set_thread_area", "set_tid_address", "setpgid",
    "setrlimit", "setsid", "times", "ugetrlimit", "vfork", "wait4", "waitid", "waitpid",
    // signals
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_sigtimedwait_time64", "sigaltstack", "signal", "sigprocmask",
    "sigreturn",
    // ids, which take capabilities where they change anything
    "getegid", "getegid32", "geteuid", "geteuid32", "getgid", "getgid32", "getgroups",
    "getgroups32", "getresgid", "getresgid32", "getresuid", "getresuid32", "getuid", "getuid32",
    "setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid", "setgid32", "setgroups",
    "setgroups32", "setregid", "setregid32", "setresgid", "setresgid32", "setresuid", "setresuid32",
    "setreuid", "setreuid32", "setuid", "setuid32",
    // clocks, timers, and what kind of machine this is
    "alarm", "clock_getres", "clock_getres_time64", "clock_gettime", "clock_gettime64",
    "clock_nanosleep", "clock_nanosleep_time64", "getitimer", "getrandom", "gettimeofday",
    "nanosleep", "setitimer", "sysinfo", "time", "timer_create", "timer_delete", "timer_getoverrun",
    "timer_gettime", "timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create",
    "timerfd_gettime", "timerfd_gettime64", "timerfd_settime", "timerfd_settime64", "uname",
    "arch_prctl", "arm_fadvise64_64", "arm_sync_file_range", "breakpoint", "cacheflush", "set_tls",
    "riscv_flush_icache"};

constexpr const char* kIpcCalls[] = {
    "ipc", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedreceive_time64",
    "mq_timedsend", "mq_timedsend_time64", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd",
    "semctl", "semget", "semop", "semtimedop", "semtimedop_time64", "shmat", "shmctl", "shmdt",
    "shmget"};

// Owners and times of files; modes are in set_mode_calls().
constexpr const char* kOwnerCalls[] = {
    "chown", "chown32", "fchown", "fchown32", "fchownat", "lchown", "lchown32", "futimesat",
    "utime", "utimensat", "utimensat_time64", "utimes"};

constexpr const char* kAttributeCalls[] = {
    "fsetxattr", "fremovexattr", "lsetxattr", "lremovexattr", "setxattr", "removexattr"};

// The same numbers on every architecture that matters, and unknown to older libseccomp by name.
constexpr int kAllowedNumbers[] = {449 /* futex_waitv */,     451 /* cachestat */,
                                   453 /* map_shadow_stack */, 454 /* futex_wake */,
                                   455 /* futex_wait */,       456 /* futex_requeue */,
                                   462 /* mseal */,            464 /* getxattrat */,
                                   465 /* listxattrat */};
constexpr int kAttributeNumbers[] = {463 /* setxattrat */, 466 /* removexattrat */};

// Programs look for them and go on without: for what they are given in memory, where a filter
// cannot look (clone3's flags, openat2's mode), or to list mounts (statmount, listmount).
constexpr int kHiddenNumbers[] = {435 /* clone3 */, 437 /* openat2 */, 457 /* statmount */,
                                  458 /* listmount */};

constexpr uint32_t kNewestCall = 469;  // file_setattr, Linux 6.17

constexpr uint32_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr uint32_t kNewTime = 0x00000080;  // in clone these bits are the signal to send at the end

// What a command writes belongs on the host to the owner of the folder, root perhaps. A file that
// runs as its owner or group would hand that on to whoever on the host starts it.
inline void set_mode_calls(CallTable& table, int (*number)(const char*),
                           const SeccompOptions& options) {
  auto mode = [&](unsigned argument, uint32_t otherwise) {
    return options.set_id_modes ? always(otherwise)
                                : refuse_bits(argument, S_ISUID | S_ISGID, otherwise);
  };
  const uint32_t change = options.ask ? kAsk : kAllow;
  for (const char* name : {"chmod", "fchmod"}) table.set(number(name), mode(1, change));
  table.set(number("fchmodat"), mode(2, change));
  table.set(452 /* fchmodat2 */, mode(2, change));
  for (const char* name : {"creat", "mknod"}) table.set(number(name), mode(1, kAllow));
  table.set(number("mknodat"), mode(2, kAllow));
  // Without a file to make, the register of the mode holds anything.
  constexpr uint32_t kMakes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  for (const auto& [name, flags] : {std::pair("open", 1u), std::pair("openat", 2u)}) {
    Instructions code;
    if (!options.path_truncate) {
      // Before version 3 Landlock takes opening for reading alone for reading alone.
      code = {load_argument(flags), step(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE),
              step(BPF_JMP | BPF_JEQ | BPF_K, O_TRUNC | O_RDONLY, 0, 1), answer(kRefuse)};
    }
    append(code, where_bits(flags, kMakes, mode(flags + 1, kAllow)));
    table.set(number(name), std::move(code));
  }
  const uint32_t truncate = options.path_truncate ? kAllow : kRefuse;
  for (const char* name : {"truncate", "truncate64"}) table.set(number(name), always(truncate));
}

// What is done to a file without opening it for writing.
inline void set_file_calls(CallTable& table, int (*number)(const char*),
                           const SeccompOptions& options) {
  const bool ask = options.ask;
  const uint32_t change = ask ? kAsk : kAllow;
  // A file system without attributes says this too, and programs know it.
  const uint32_t attribute = ask ? kNoSuchThing : kAllow;
  for (const char* name : kOwnerCalls) table.set(number(name), always(change));
  for (const char* name : kAttributeCalls) table.set(number(name), always(attribute));
  for (const int no : kAttributeNumbers) table.set(no, always(attribute));
  table.set(number("inotify_add_watch"), always(change));

  // Commands of file systems, by the letter that they begin with: of those, looking, and sharing
  // what two files hold, which takes a descriptor for writing.
  Instructions code{load_argument(1), step(BPF_ALU | BPF_AND | BPF_K, 0xFF00)};
  const Instructions known = one_of(
      1, {0x80086601 /* GETFLAGS */, 0x80087601 /* GETVERSION */, 0x801C581F /* FSGETXATTR */,
          0xC020660B /* FIEMAP */, 0x40049409 /* FICLONE */, 0x4020940D /* FICLONERANGE */});
  for (const uint32_t letter :
       {0x5800u, 0x6600u, 0x6F00u, 0x7600u, 0x9400u, 0x9700u, 0xBC00u, 0xF500u}) {
    code.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, letter, 1, 0));
    code.push_back(step(BPF_JMP | BPF_JA, static_cast<uint32_t>(known.size())));
    append(code, known);
  }
  if (!ask) code.clear();
  // Whom to signal about a descriptor. Then typing into a terminal, pasting into a console,
  // changing a line discipline.
  const Instructions rest = none_of(1, {0x5412, 0x541C, 0x5423});
  append(code, options.other_signals ? rest : none_of(1, {0x8901, 0x8902}, rest));
  table.set(number("ioctl"), std::move(code));
}

// Limits, priorities and processors: of whoever calls, or of any process of the same user.
inline void set_process_calls(CallTable& table, int (*number)(const char*),
                              const SeccompOptions& options) {
  const Instructions any = always(kAllow);
  const bool others = options.other_processes;
  const Instructions own = others ? any : one_of(0, {0});
  for (const char* name : {"prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam",
                           "sched_setscheduler"}) {
    table.set(number(name), own);
  }
  // The first argument says what the second is: 0 and 1 mean a process.
  auto of_one = [&](uint32_t kind) {
    if (others) return any;
    Instructions code = where_equal(0, kind, one_of(1, {0}));
    code.push_back(answer(kRefuse));
    return code;
  };
  table.set(number("setpriority"), of_one(0));
  table.set(number("ioprio_set"), of_one(1));

  const Instructions signal = always(options.other_signals ? kAllow
                                     : options.ask         ? kAsk
                                                           : kRefuse);
  for (const char* name : {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
                           "pidfd_send_signal"}) {
    table.set(number(name), signal);
  }
  // Who is signalled when a descriptor is ready.
  const Instructions control =
      options.other_signals ? any : none_of(1, {8 /* F_SETOWN */, 15 /* F_SETOWN_EX */});
  for (const char* name : {"fcntl", "fcntl64"}) table.set(number(name), control);
}

// Families: local, IPv4, IPv6, and netlink for routes. Others have a history, load modules on
// demand, or lead to the hypervisor. Protocols are listed for the same reasons.
inline void set_socket_calls(CallTable& table, int (*number)(const char*),
                             const SeccompOptions& options) {
  constexpr uint32_t kType = 0xF;
  // Connected once or never, so that nothing is sent by name: that takes connect().
  const Instructions streams = one_of(1, {SOCK_STREAM, SOCK_SEQPACKET}, kType);
  const Instructions pair = options.host_sockets ? always(kAllow) : streams;
  // With IPv4 about, connect() must be, and whom it is for lies in memory.
  const Instructions local = options.host_sockets ? always(kAllow)
                             : options.internet   ? always(kRefuse)
                                                  : streams;
  Instructions code = where_equal(0, AF_UNIX, local);
  if (options.internet) {
    // Two conditions, each with its own answer: the first turns the wrong types away.
    Instructions inet = {load_argument(1), step(BPF_ALU | BPF_AND | BPF_K, kType),
                         step(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0),
                         step(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0), answer(kRefuse)};
    append(inet, one_of(2, {0, 1 /* ICMP */, 6 /* TCP */, 17 /* UDP */, 58 /* ICMPv6 */}));
    for (const uint32_t family : {AF_INET, AF_INET6}) append(code, where_equal(0, family, inet));
    // Programs that manage users take EPERM for an audit that must not be missed, and give up; this
    // tells them that the kernel has none.
    Instructions netlink =
        where_equal(2, 9 /* audit */, always(SECCOMP_RET_ERRNO | EPROTONOSUPPORT));
    append(netlink, one_of(2, {0 /* routes */}));
    append(code, where_equal(0, AF_NETLINK, netlink));
  }
  code.push_back(answer(kRefuse));
  table.set(number("socket"), std::move(code));

  Instructions pairs = where_equal(0, AF_UNIX, pair);
  pairs.push_back(answer(kRefuse));
  table.set(number("socketpair"), std::move(pairs));
  const bool known = !options.internet && !options.host_sockets;  // that it is a local socket
  table.set(number("connect"), always(!known ? kAllow : options.ask ? kAsk : kRefuse));
}

}  // namespace detail

inline Instructions seccomp_allow_instructions(const SeccompOptions& options = {}) {
  using namespace detail;
  // Negative where this architecture has no such call.
  int (*const number)(const char*) = [](const char* name) {
    return ::seccomp_syscall_resolve_name(name);
  };
  CallTable table(::seccomp_arch_native(), kNewestCall);
  const Instructions any = always(kAllow);
  for (const char* name : kAllowedCalls) table.set(number(name), any);
  for (const int no : kAllowedNumbers) table.set(no, any);
  for (const int no : kHiddenNumbers) table.set(no, always(kNotThere));
  if (options.shared_ipc) {
    for (const char* name : kIpcCalls) table.set(number(name), any);
  }
  if (options.chroot) table.set(number("chroot"), any);
  table.set(number("clone"), refuse_bits(0, kNamespaceFlags));
  table.set(number("unshare"), refuse_bits(0, kNamespaceFlags | kNewTime));
  // Linux, its 32-bit and old-version faces, and the question which it is: not the bits that take
  // the randomness out of addresses or make what is readable executable.
  table.set(number("personality"), one_of(0, {0, 0x8, 0x20000, 0x20008, UINT32_MAX}));
  set_mode_calls(table, number, options);
  set_file_calls(table, number, options);
  set_process_calls(table, number, options);
  set_socket_calls(table, number, options);
  return table.program();
}

// The filter as a file that starts with its first instruction, as bubblewrap's --seccomp and
// apply_filter() read it.
inline Result<Fd> seccomp_allow_program(const SeccompOptions& options = {}) {
  const Instructions code = seccomp_allow_instructions(options);
  Fd file = memory_file("seccomp", {reinterpret_cast<const char*>(code.data()),
                                    code.size() * sizeof(sock_filter)});
  if (file && code.size() <= BPF_MAXINSNS) return file;
  return failure(BH_INTERNAL, "the seccomp filter cannot be kept in a memory file", "seccomp");
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SECCOMP_ALLOW_HPP
