// The allow-list of system calls: what it refuses, how, and that ordinary programs do not notice.
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <bulkhead/sdk/isolation/seccomp_allow.hpp>
#include <bulkhead/sdk/isolation/seccomp_apply.hpp>
#include <functional>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

using namespace bh_test;
namespace isolation = bulkhead::sdk::isolation;
using isolation::SeccompOptions;

namespace {

constexpr int kNoFilter = 1000;

// What `attempt` gives in a process of its own: 0 or an errno. `options` is null: without a filter.
int tried(const SeccompOptions* options, const std::function<long()>& attempt) {
  std::string bytes;
  if (options != nullptr) {
    auto program = isolation::seccomp_allow_program(*options);
    REQUIRE(program);
    REQUIRE(isolation::read_filter(program->get(), bytes));
  }
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const isolation::Fd from(ends[0]);
  isolation::Fd to(ends[1]);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int answer = kNoFilter;
    if (options == nullptr || isolation::apply_filter(bytes)) {
      answer = attempt() >= 0 ? 0 : errno;
    }
    (void)!::write(to.get(), &answer, sizeof answer);
    ::_exit(0);
  }
  to.reset();
  int answer = -1, status = 0;
  const bool told = ::read(from.get(), &answer, sizeof answer) == sizeof answer;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(told);  // else it was killed, which a refusal never does
  return answer;
}

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return ::syscall(number, a, b, c, d, e, f);
}
long at(const void* p) { return reinterpret_cast<long>(p); }

struct Try {
  const char* name;
  std::function<long()> attempt;
  int error = EPERM;
};

void all_give(const SeccompOptions& options, const std::vector<Try>& tries) {
  for (const Try& one : tries) {
    CAPTURE(one.name);
    CHECK(tried(&options, one.attempt) == one.error);
  }
}

// The exit code of a program that runs under the filter, or -1.
int run(const SeccompOptions& options, const std::vector<std::string>& words) {
  auto program = isolation::seccomp_allow_program(options);
  REQUIRE(program);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const isolation::Fd nothing(::open("/dev/null", O_RDWR));
    (void)::dup2(nothing.get(), 0);
    (void)::dup2(nothing.get(), 1);
    if (isolation::apply_filter(program->get())) ::execvp(argv[0], argv.data());
    ::_exit(126);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("P20 P21 P22 calls that lead out of sandboxes answer EPERM, or are not there") {
  const SeccompOptions plain;
  all_give(plain, {
      {"unshare user", [] { return ::unshare(CLONE_NEWUSER); }},
      {"unshare time", [] { return call(SYS_unshare, 0x80); }},
      {"clone user", [] { return call(SYS_clone, CLONE_NEWUSER | SIGCHLD); }},
      {"clone net among others", [] { return call(SYS_clone, CLONE_NEWNET | CLONE_FS | SIGCHLD); }},
      {"clone3", [] { return call(435); }, ENOSYS},
      {"openat2", [] { return call(437); }, ENOSYS},
      {"statmount", [] { return call(457); }, ENOSYS},
      {"setns", [] { return call(SYS_setns, -1, 0); }},
      {"ptrace", [] { return ::ptrace(PTRACE_TRACEME); }},
      {"process_vm_readv", [] { return call(SYS_process_vm_readv, ::getpid()); }},
      {"process_vm_writev", [] { return call(SYS_process_vm_writev, ::getpid()); }},
      {"process_madvise", [] { return call(440); }},
      {"pidfd_getfd", [] { return call(438, -1, 0, 0); }},
      {"kcmp", [] { return call(SYS_kcmp, ::getpid(), ::getpid(), 0); }},
      {"io_uring_setup", [] { return call(425, 1, 0); }},
      {"io_uring_enter", [] { return call(426, -1); }},
      {"io_uring_register", [] { return call(427, -1); }},
      {"bpf", [] { return call(SYS_bpf, 0, 0, 0); }},
      {"perf_event_open", [] { return call(SYS_perf_event_open, 0, 0, -1, -1, 0); }},
      {"userfaultfd", [] { return call(SYS_userfaultfd, 0); }},
      {"keyctl", [] { return call(SYS_keyctl, 0, -3, 0); }},
      {"add_key", [] { return call(SYS_add_key, at("user"), at("a"), at("b"), 1, -3); }},
      {"request_key", [] { return call(SYS_request_key, at("user"), at("a")); }},
      {"mount", [] { return ::mount("none", "/tmp", "tmpfs", 0, nullptr); }},
      {"umount", [] { return ::umount2("/no/such/mount", 0); }},
      {"pivot_root", [] { return call(SYS_pivot_root, at("/"), at("/")); }},
      {"chroot", [] { return ::chroot("/no/such/folder"); }},
      {"fsopen", [] { return call(430, at("tmpfs"), 0); }},
      {"open_tree", [] { return call(428, AT_FDCWD, at("/"), 0); }},
      {"move_mount", [] { return call(429, -1); }},
      {"mount_setattr", [] { return call(442, -1); }},
      {"open_tree_attr", [] { return call(467, -1); }},
      {"name_to_handle_at", [] { return call(SYS_name_to_handle_at, AT_FDCWD, at("/")); }},
      {"open_by_handle_at", [] { return call(SYS_open_by_handle_at, AT_FDCWD, 0, 0); }},
      {"fanotify_init", [] { return call(SYS_fanotify_init, 0, 0); }},
      {"fanotify_mark", [] { return call(SYS_fanotify_mark, -1); }},
      {"syslog", [] { return call(SYS_syslog, 10, 0, 0); }},
      {"quotactl", [] { return call(SYS_quotactl, 0); }},
      {"quotactl_fd", [] { return call(443, -1); }},
      {"acct", [] { return call(SYS_acct, 0); }},
      {"swapon", [] { return call(SYS_swapon, at("/no/such/file")); }},
      {"reboot", [] { return call(SYS_reboot, 0, 0, 0); }},
      {"kexec_load", [] { return call(SYS_kexec_load, 0); }},
      {"init_module", [] { return call(SYS_init_module, 0); }},
      {"finit_module", [] { return call(SYS_finit_module, -1); }},
      {"settimeofday", [] { return call(SYS_settimeofday, 0, 0); }},
      {"clock_settime", [] { return call(SYS_clock_settime, 0, 0); }},
      {"move_pages", [] { return call(SYS_move_pages, 0); }},
      {"mbind", [] { return call(SYS_mbind, 0); }},
      {"personality without randomness", [] { return ::personality(ADDR_NO_RANDOMIZE); }},
      {"personality, readable is executable", [] { return ::personality(READ_IMPLIES_EXEC); }},
      {"typing into a terminal", [] { return ::ioctl(0, 0x5412, "x"); }},
      // The kernel takes the lower half of a request for the whole.
      {"the same with more bits", [] { return call(SYS_ioctl, 0, 0x100005412, at("x")); }},
      {"pasting into a console", [] { return ::ioctl(0, 0x541C, "x"); }},
      {"a line discipline", [] { return ::ioctl(0, 0x5423, "x"); }},
      {"a call newer than the list", [] { return call(470); }, ENOSYS},
      {"a call that nobody has", [] { return call(5000); }, ENOSYS},
      {"x32", [] { return call(0x40000000 + 39); }},
  });
}

TEST_CASE("the same attempts are answered by the kernel where no filter is") {
  // A positive control, for those that do no harm.
  CHECK(tried(nullptr, [] { return call(435); }) == EINVAL);
  CHECK(tried(nullptr, [] { return call(SYS_setns, -1, 0); }) == EBADF);
  CHECK(tried(nullptr, [] { return ::ptrace(PTRACE_TRACEME); }) == 0);
  CHECK(tried(nullptr, [] { return call(SYS_process_vm_readv, ::getpid()); }) == 0);
  CHECK(tried(nullptr, [] { return call(438, -1, 0, 0); }) == EBADF);
  CHECK(tried(nullptr, [] { return ::personality(ADDR_NO_RANDOMIZE); }) == 0);
  CHECK(tried(nullptr, [] { return call(SYS_keyctl, 0, -3, 0); }) == 0);
  CHECK(tried(nullptr, [] { return ::ioctl(0, 0x5423, "x"); }) != EPERM);
}

TEST_CASE("what an ordinary program does is not in the way") {
  const SeccompOptions plain;
  all_give(plain, {
      {"getpid", [] { return call(SYS_getpid); }, 0},
      {"unshare of no namespace", [] { return ::unshare(CLONE_FILES); }, 0},
      {"a process",
       [] {
         const pid_t child = ::fork();
         if (child == 0) ::_exit(0);
         return ::waitpid(child, nullptr, 0);
       },
       0},
      {"which personality", [] { return ::personality(0xffffffff); }, 0},
      {"a memory file", [] { return ::memfd_create("x", 0); }, 0},
      {"futex_waitv is asked, and finds nothing", [] { return call(449, 0, 0, 0, 0, 0); }, EINVAL},
      {"a window's size", [] { return ::ioctl(0, TIOCGWINSZ, nullptr) < 0 ? 0L : 0L; }, 0},
      {"shared memory",
       [] {
         const int id = ::shmget(IPC_PRIVATE, 4096, 0600);
         return id < 0 ? -1L : ::shmctl(id, IPC_RMID, nullptr);
       },
       0},
  });
}

TEST_CASE("N16 families and protocols") {
  auto make = [](int family, int type, int protocol) {
    return [=] { return static_cast<long>(::socket(family, type, protocol)); };
  };
  auto pair = [](int family, int type) {
    return [=] {
      int ends[2];
      return static_cast<long>(::socketpair(family, type, 0, ends));
    };
  };
  all_give(SeccompOptions(), {
      {"local", make(AF_UNIX, SOCK_STREAM, 0), 0},
      {"local datagrams", make(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), 0},
      {"pair", pair(AF_UNIX, SOCK_DGRAM), 0},
      {"TCP", make(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP), 0},
      {"UDP", make(AF_INET, SOCK_DGRAM, 0), 0},
      {"routes", make(AF_NETLINK, SOCK_RAW, 0), 0},
      // As the kernel reads it: an int.
      {"more bits in the register",
       [] { return call(SYS_socket, 0x700000002, SOCK_STREAM, 0); }, 0},
      {"more bits, another family", [] { return call(SYS_socket, 0x200000028, SOCK_STREAM, 0); }},
      {"hypervisor", make(AF_VSOCK, SOCK_STREAM, 0)},
      {"packets", make(AF_PACKET, SOCK_RAW, 0)},
      {"packets by their old name", make(AF_INET, SOCK_PACKET, 0)},
      {"raw", make(AF_INET, SOCK_RAW, IPPROTO_RAW)},
      {"kernel's ciphers", make(38, SOCK_SEQPACKET, 0)},
      {"keys", make(15, SOCK_RAW, 2)},
      {"netlink's audit", make(AF_NETLINK, SOCK_RAW, 9), EPROTONOSUPPORT},
      {"netlink's filters", make(AF_NETLINK, SOCK_RAW, 12)},
      {"bluetooth", make(31, SOCK_RAW, 0)},
      {"tipc", make(30, SOCK_STREAM, 0)},
      {"SCTP", make(AF_INET, SOCK_STREAM, 132)},
      {"UDP-Lite", make(AF_INET, SOCK_DGRAM, 136)},
      {"multipath TCP", make(AF_INET, SOCK_STREAM, 262)},
      {"DCCP", make(AF_INET, 6, 0)},
      {"pair of another family", pair(30, SOCK_STREAM)},
  });
}

TEST_CASE("sockets where no network namespace stands around them") {
  auto connect = [] {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    ::strcpy(name.sun_path, "/no/such/socket");
    return fd < 0 ? -1L : ::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name);
  };
  auto make = [](int family, int type) {
    return [=] { return static_cast<long>(::socket(family, type, 0)); };
  };
  auto pair = [](int type) {
    return [=] {
      int ends[2];
      return static_cast<long>(::socketpair(AF_UNIX, type, 0, ends));
    };
  };
  SeccompOptions off;
  off.internet = false;
  off.host_sockets = false;
  off.shared_ipc = false;
  all_give(off, {
      {"TCP", make(AF_INET, SOCK_STREAM)},
      {"UDP over IPv6", make(AF_INET6, SOCK_DGRAM)},
      {"routes", make(AF_NETLINK, SOCK_RAW)},
      {"a local socket", make(AF_UNIX, SOCK_STREAM), 0},
      {"connecting it", connect},
      {"local datagrams", make(AF_UNIX, SOCK_DGRAM)},
      {"raw local sockets, which are datagrams too", make(AF_UNIX, SOCK_RAW)},
      {"a pair of streams", pair(SOCK_STREAM | SOCK_CLOEXEC), 0},
      {"a pair of datagrams", pair(SOCK_DGRAM)},
      {"System V memory", [] { return static_cast<long>(::shmget(IPC_PRIVATE, 4096, 0600)); }},
      {"a POSIX queue", [] { return call(SYS_mq_open, at("x"), O_RDONLY); }},
  });
  SeccompOptions on = off;
  on.internet = true;
  all_give(on, {
      {"TCP", make(AF_INET, SOCK_STREAM), 0},
      {"a local socket", make(AF_UNIX, SOCK_STREAM)},
      {"a pair of streams", pair(SOCK_STREAM), 0},
      {"a pair of datagrams", pair(SOCK_DGRAM)},
      {"connect", [] { return ::connect(-1, nullptr, 0); }, EBADF},
  });
  CHECK(tried(nullptr, connect) == ENOENT);
}

TEST_CASE("P15 no file that runs as its owner or group is made, unless an option says so") {
  Folder folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string file = folder.write("file", "x");
  const std::string next = folder.path() + "/next";
  auto tries = [&](int error) {
    const char* f = file.c_str();
    const char* n = next.c_str();
    auto done = [](long fd) { return fd; };
    return std::vector<Try>{
        {"chmod", [=] { return ::chmod(f, 04755); }, error},
        {"chmod of the group", [=] { return ::chmod(f, 02755); }, error},
        {"fchmod", [=] { return ::fchmod(::open(f, O_RDONLY), 04755); }, error},
        {"fchmodat", [=] { return call(SYS_fchmodat, AT_FDCWD, at(f), 04755); }, error},
        {"fchmodat2", [=] { return call(452, AT_FDCWD, at(f), 04755, 0); }, error},
        {"creat", [=] { return done(::creat(n, 04755)); }, error},
        {"open", [=] { return done(call(SYS_open, at(n), O_CREAT | O_WRONLY, 02755)); }, error},
        {"openat", [=] { return done(::openat(AT_FDCWD, n, O_CREAT | O_RDWR, 04755)); }, error},
        {"mknod", [=] { ::unlink(n); return ::mknod(n, S_IFREG | 04755, 0); }, error},
    };
  };
  all_give(SeccompOptions(), tries(EPERM));
  SeccompOptions packages;
  packages.set_id_modes = true;
  packages.chroot = true;
  all_give(packages, tries(0));
  CHECK(tried(&packages, [] { return ::chroot("/no/such/folder"); }) == ENOENT);
  // Plain modes pass; without a file to make, the register of the mode means nothing.
  all_give(SeccompOptions(), {
      {"chmod", [&] { return ::chmod(file.c_str(), 0755); }, 0},
      {"open with rubbish", [&] { return call(SYS_openat, AT_FDCWD, at(file.c_str()), 0, 07777); },
       0},
  });
}

TEST_CASE("ordinary programs run under the list unharmed") {
  Folder folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string dir = folder.path();
  const std::string hello =
      folder.write("hello.c",
                   "#include <pthread.h>\n"
                   "static void *f(void *p) { return p; }\n"
                   "int main(void) { pthread_t t;\n"
                   "  return pthread_create(&t, 0, f, 0) || pthread_join(t, 0); }\n");
  const std::string go = folder.write("hello.go",
                                      "package main\nimport \"sync\"\n"
                                      "func main() { var w sync.WaitGroup\n"
                                      "  for i := 0; i < 50; i++ { w.Add(1); go w.Done() }\n"
                                      "  w.Wait() }\n");
  struct Program {
    std::string name;
    std::vector<std::string> argv;
  };
  const std::vector<Program> programs = {
      {"sh", {"sh", "-c", "for i in 1 2 3; do (echo $i | cat); done; sleep 0 & wait"}},
      {"python3",
       {"python3", "-c",
        "import threading, multiprocessing as m, subprocess, ssl, socket\n"
        "ts = [threading.Thread(target=lambda: None) for _ in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
        "p = m.get_context('fork').Pool(2)\n"
        "assert p.map(abs, [-1, -2]) == [1, 2]; p.close(); p.join()\n"
        "assert subprocess.run(['true']).returncode == 0\n"
        "s = socket.create_server(('127.0.0.1', 0)); s.close()\n"}},
      {"node",
       {"node", "-e",
        "const {execFileSync} = require('child_process'); execFileSync('true');"
        "const {Worker} = require('worker_threads');"
        "new Worker('1', {eval: true}).on('exit', c => process.exit(c))"}},
      {"git",
       {"sh", "-ec",
        "cd " + dir +
            "; git init -q r; cd r; echo x > f; git add f; git -c user.name=a "
            "-c user.email=a@b commit -qm x; git log --oneline; git gc -q"}},
      {"gcc", {"sh", "-ec", "gcc -pthread -o " + dir + "/hello " + hello + "; " + dir + "/hello"}},
      {"go",
       {"sh", "-ec",
        "export HOME=" + dir + " GOCACHE=" + dir + "/cache GOFLAGS=-p=1; go run " + go}},
      {"tar",
       {"sh", "-ec",
        "cd " + dir + "; tar -czf x.tgz hello.c; mkdir -p out; tar -xzf x.tgz -C out"}},
      {"curl", {"curl", "--version"}},
      {"apt-get", {"apt-get", "--version"}},
      {"java", {"sh", "-c", "java -Xshare:auto -version 2> /dev/null"}},
      {"cargo", {"cargo", "--version"}},
  };
  int ran = 0;
  for (const Program& program : programs) {
    if (!installed(program.name)) continue;
    CAPTURE(program.name);
    CHECK(run(SeccompOptions(), program.argv) == 0);
    ++ran;
  }
  // A shell is always there; a filter that refuses all would fail at it.
  CHECK(ran > 0);
}

TEST_CASE("what Landlock does not cover is asked, and refused while nobody answers") {
  Folder folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string file = folder.write("file", "text");
  ::chmod(file.c_str(), 0666);
  const char* f = file.c_str();
  auto descriptor = [=] { return ::open(f, O_RDONLY); };
  SeccompOptions asking;
  asking.ask = true;
  asking.internet = asking.host_sockets = false;
  const std::vector<Try> asked = {
      {"chmod", [=] { return ::chmod(f, 0600); }, ENOSYS},
      {"fchmod", [=] { return ::fchmod(descriptor(), 0600); }, ENOSYS},
      {"fchmodat2", [=] { return call(452, AT_FDCWD, at(f), 0600, 0); }, ENOSYS},
      {"chown", [=] { return ::chown(f, ::getuid(), ::getgid()); }, ENOSYS},
      {"utimensat", [=] { return ::utimensat(AT_FDCWD, f, nullptr, 0); }, ENOSYS},
      {"inotify", [=] { return ::inotify_add_watch(::inotify_init(), f, IN_MODIFY); }, ENOSYS},
      {"connect", [] { return ::connect(-1, nullptr, 0); }, ENOSYS},
      // Not even asked.
      {"set-id", [=] { return ::chmod(f, 04600); }, EPERM},
      {"setxattr", [=] { return ::setxattr(f, "user.x", "x", 1, 0); }, EOPNOTSUPP},
      {"removexattr", [=] { return ::removexattr(f, "user.x"); }, EOPNOTSUPP},
      {"flags",
       [=] {
         long flags = 0;
         return ::ioctl(descriptor(), 0x40086602, &flags);
       },
       EPERM},
      {"a subvolume", [=] { return ::ioctl(descriptor(), 0x5000940E, nullptr); }, EPERM},
      {"typing", [] { return ::ioctl(0, 0x5412, "x"); }, EPERM},
      {"looking at flags",
       [=] {
         long flags = 0;
         return ::ioctl(descriptor(), 0x80086601, &flags) == 0 || errno == ENOTTY ? 0L : -1L;
       },
       0},
      {"a size", [] { return ::ioctl(0, TIOCGWINSZ, nullptr) == 0 || errno != EPERM ? 0L : -1L; },
       0}};
  all_give(asking, asked);
  asking.other_signals = false;
  auto fcntl = [](int command) { return [=] { return ::fcntl(0, command, ::getpid()); }; };
  all_give(asking, {{"kill", [] { return ::kill(::getpid(), 0); }, ENOSYS},
                    {"tgkill", [] { return call(SYS_tgkill, ::getpid(), ::getpid(), 0); }, ENOSYS},
                    {"pidfd_send_signal", [] { return call(424, -1, 0, 0, 0); }, ENOSYS},
                    {"whom to signal", fcntl(F_SETOWN)},
                    {"flags", fcntl(F_GETFL), 0}});
  // Without the option the kernel answers.
  all_give(SeccompOptions(), {{"chown", [=] { return ::chown(f, ::getuid(), ::getgid()); }, 0},
                              {"utimes", [=] { return ::utimes(f, nullptr); }, 0}});
}

TEST_CASE("limits and processors of one's own alone; files emptied by descriptor alone") {
  SeccompOptions own;
  own.other_processes = false;
  own.path_truncate = false;
  const long parent = ::getpid();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  auto processors = [&](long pid) {
    return call(SYS_sched_setaffinity, pid, sizeof set, at(&set));
  };
  auto limits = [](long pid) {
    rlimit limit{};
    return ::syscall(SYS_prlimit64, pid, RLIMIT_CORE, nullptr, &limit);
  };
  CHECK(tried(nullptr, [&] { return limits(parent); }) == 0);
  const int priority = ::getpriority(PRIO_PROCESS, 0);
  CHECK(tried(nullptr, [&] { return call(SYS_setpriority, 0, parent, priority); }) == 0);
  all_give(own, {{"own limits", [&] { return limits(0); }, 0},
                 {"other limits", [&] { return limits(parent); }},
                 {"own processors", [&] { return processors(0); }, 0},
                 {"other processors", [&] { return processors(parent); }},
                 {"own priority", [] { return call(SYS_setpriority, 0, 0, 19); }, 0},
                 {"other priority", [&] { return call(SYS_setpriority, 0, parent, priority); }},
                 {"a group's priority", [] { return call(SYS_setpriority, 1, 0, 0); }},
                 {"a user's priority", [] { return call(SYS_setpriority, 2, 0, 0); }},
                 {"own input", [] { return call(SYS_ioprio_set, 1, 0, 0x4007); }, 0},
                 {"a user's input", [] { return call(SYS_ioprio_set, 3, 0, 0x4007); }}});

  Folder folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string file = folder.write("file", "text");
  ::chmod(file.c_str(), 0666);
  const char* f = file.c_str();
  all_give(own, {{"truncate", [=] { return ::truncate(f, 0); }},
                 {"opening for reading", [=] { return ::open(f, O_RDONLY | O_TRUNC); }},
                 {"with a file to make", [=] { return ::open(f, O_CREAT | O_TRUNC, 0600); }}});
  CHECK(read(file) == "text");
  all_give(own, {{"opening for writing", [=] { return ::open(f, O_WRONLY | O_TRUNC); }, 0},
                 {"a descriptor", [=] { return ::ftruncate(::open(f, O_RDWR), 0); }, 0}});
  CHECK(tried(nullptr, [=] { return ::truncate(f, 0); }) == 0);
}
