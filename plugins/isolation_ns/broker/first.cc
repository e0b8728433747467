#include "first.h"

#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/isolation/landlock.hpp>
#include <bulkhead/sdk/isolation/launch_init.hpp>
#include <bulkhead/sdk/isolation/mount_api.hpp>
#include <bulkhead/sdk/isolation/seccomp_apply.hpp>

#include "../wire.h"

namespace ns {

using isolation::Fd;
using isolation::MountAttributes;

namespace {

// Nobody takes a process that waits for work longer than this.
constexpr int kPatienceMs = 30000;

// What tells of the machine, or sets it. As the kernel's uid 0 is never inside, its permissions keep
// most of it closed already; a mount keeps it so whatever they become.
constexpr const char* kClosedFiles[] = {"/proc/cmdline",  "/proc/kcore",      "/proc/keys",
                                        "/proc/kallsyms", "/proc/kmsg",       "/proc/timer_list",
                                        "/proc/sched_debug"};
constexpr const char* kClosedFolders[] = {"/proc/acpi", "/proc/asound", "/proc/scsi"};
constexpr const char* kReadOnly[] = {"/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sysrq-trigger"};

// Whatever the position is, which all that have the same open file share.
bool read_from_start(int fd, std::string& out) {
  char buffer[16384];
  for (;;) {
    const ssize_t n = ::pread(fd, buffer, sizeof buffer, static_cast<off_t>(out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    out.append(buffer, static_cast<size_t>(n));
  }
}

class First {
 public:
  explicit First(const Seat& seat) : seat_(seat) {}

  // Everything up to where there is no way back.
  bool settle() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::string bytes;
    if (!read_from_start(seat_.entry, bytes) || !decode(bytes, entry_)) {
      return fail("the entry cannot be read");
    }
    if (!isolation::read_filter(seat_.filter, filter_)) return fail("reading the filter");
    // Among shared processes the keeper has done that.
    if (seat_.pid < 0 && (!lay_proc() || !lay_late())) return false;
    return give_up();
  }

  // Waits for a task and runs it.
  int serve() {
    if (seat_.pid >= 0) ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    pollfd set{seat_.control, POLLIN, 0};
    int n;
    do {
      n = ::poll(&set, 1, kPatienceMs);
    } while (n < 0 && errno == EINTR);
    // From here on nobody can ask for us; who did just now is still served.
    if (n == 0) ::shutdown(seat_.control, SHUT_RD);
    std::vector<Fd> fds = isolation::receive_fds(seat_.control);
    if (fds.empty()) return 0;
    isolation::Task task;
    std::string bytes;
    if (fds.size() < 4 || !isolation::read_all(fds[0].get(), bytes) || !decode(bytes, task) ||
        task.argv.empty()) {
      errno = EBADMSG;
      return trouble("the task cannot be read");
    }
    ::close(seat_.trouble);
    isolation::InitFds init;
    init.control = seat_.control;
    // Taken over: the init closes them once the command has them.
    init.in = fds[1].release();
    init.out = fds[2].release();
    init.err = fds[3].release();
    for (size_t i = 4; i < fds.size(); ++i) init.groups.push_back(fds[i].release());
    return isolation::Init(std::move(task), std::move(init), &isolation::serve_files).run();
  }

 private:
  int trouble(const char* what) {
    char text[256];
    const int n = ::snprintf(text, sizeof text, "%s: %s\n", what, ::strerror(errno));
    (void)!::write(seat_.trouble, text, static_cast<size_t>(n));
    return 1;
  }
  bool fail(const char* what) { return trouble(what), false; }

  // `from` over `to`; what is not there needs no mount.
  static bool cover(const char* from, const char* to, bool recursive) {
    const Fd point(::open(to, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!point) return errno == ENOENT;
    const Fd source(::open(from, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const unsigned flags = recursive ? isolation::kTreeRecursive : 0;
    const Fd tree = source ? isolation::copy_tree(source.get(), flags) : Fd();
    MountAttributes a;
    a.set = isolation::kMountReadOnly | isolation::kMountNoSuid | isolation::kMountNoExecute;
    return tree && isolation::set_mount(tree.get(), flags, a) == 0 &&
           isolation::move_mount(tree.get(), point.get()) == 0;
  }

  bool lay_proc() {
    if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
      return fail("mounting /proc");
    }
    for (const char* path : kReadOnly) {
      if (!cover(path, path, true)) return fail("closing /proc");
    }
    for (const char* path : kClosedFiles) {
      if (!cover("/dev/null", path, false)) return fail("closing /proc");
    }
    for (const char* path : kClosedFolders) {
      if (!cover("/dev/mqueue", path, false)) return fail("closing /proc");
    }
    return true;
  }

  // Rules about what was not there when the sandbox was built.
  bool lay_late() {
    const Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (const Place& place : entry_.late) {
      const Fd point = isolation::open_beneath(root.get(), place.target.substr(1));
      struct stat st {};
      // Still not there, or a link by now, which leads nowhere that its owner could not go anyway.
      if (!point || ::fstat(point.get(), &st) != 0 || S_ISLNK(st.st_mode)) continue;
      const std::string self = "/proc/self/fd/" + std::to_string(point.get());
      Fd tree;
      if (place.kind == Place::kHost) {
        tree = isolation::copy_tree(point.get(), isolation::kTreeRecursive);
      } else {
        const Fd mask(::open(S_ISDIR(st.st_mode) ? "/dev/mqueue" : "/dev/null", O_PATH | O_CLOEXEC));
        tree = isolation::copy_tree(mask.get(), 0);
      }
      MountAttributes a;
      a.set = isolation::kMountReadOnly;
      if (!tree || isolation::set_mount(tree.get(), isolation::kTreeRecursive, a) != 0 ||
          isolation::move_mount(tree.get(), point.get()) != 0) {
        return fail("protecting what was made meanwhile");
      }
    }
    return true;
  }

  // A second wall behind the mounts, which stands on names of its own. A kernel without it has the
  // mounts alone; the report says so.
  bool close_files() {
    namespace landlock = isolation::landlock;
    const int version = isolation::landlock_version();
    if (version < 1) return true;
    landlock::Handled wanted;
    wanted.files = landlock::handled_by(version).files;
    // Commands that share their processes signal each other's, which have domains of their own.
    wanted.scopes = landlock::kAbstractSockets | (seat_.pid < 0 ? landlock::kSignals : 0);
    const auto rules = landlock::Ruleset::make(wanted);
    if (!rules) return fail("Landlock");
    auto allow = [&](const char* path, uint64_t rights) {
      const Fd fd(::open(path, O_PATH | O_CLOEXEC));
      return !fd || rules.allow(fd.get(), rights);
    };
    constexpr uint64_t kUsing =
        landlock::kReading | landlock::kWriteFile | landlock::kTruncate | landlock::kDeviceIoctl;
    bool done = allow("/", landlock::kReading) && allow("/dev", kUsing) && allow("/proc", kUsing) &&
                allow("/dev/shm", landlock::kWriting);
    for (const auto& path : entry_.writable) done = done && allow(path.c_str(), landlock::kWriting);
    return done && rules.enforce() ? true : fail("Landlock");
  }

  bool set_capabilities(uint64_t keep) {
    for (int i = 0; i < 64; ++i) {
      if ((keep >> i & 1) != 0) continue;
      if (::prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0 && errno == EINVAL) break;
    }
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    for (int i = 0; i < 2; ++i) {
      data[i].effective = data[i].permitted = data[i].inheritable =
          static_cast<uint32_t>(keep >> (32 * i));
    }
    if (::syscall(SYS_capset, &head, data) != 0) return false;
    for (int i = 0; i < 64; ++i) {
      if ((keep >> i & 1) != 0 && ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) != 0) {
        return false;
      }
    }
    return true;
  }

  bool give_up() {
    // No key of the host's session can be looked up from a session of its own.
    (void)::syscall(SYS_keyctl, 1, nullptr);
    if (entry_.capabilities != 0 && ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) {
      return fail("keeping capabilities");
    }
    if (entry_.drop_groups != 0 && ::setgroups(0, nullptr) != 0) return fail("dropping groups");
    if (::setresgid(entry_.gid, entry_.gid, entry_.gid) != 0 ||
        ::setresuid(entry_.uid, entry_.uid, entry_.uid) != 0) {
      return fail("setting the ids");
    }
    if (!set_capabilities(entry_.capabilities)) return fail("dropping capabilities");
    if (!close_files()) return false;
    // Inside, nobody shall read our memory or reach our descriptors. After the ids, which set it.
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!isolation::apply_filter(filter_)) return fail("the system call filter");
    return true;
  }

  const Seat& seat_;
  Entry entry_;
  std::string filter_;
};

}  // namespace

int run_first(const Seat& seat) {
  // Not needed here, and never to be the command's.
  for (const int fd : {seat.user, seat.mnt, seat.ipc, seat.uts, seat.cgroup, seat.time, seat.net,
                       seat.back, seat.job, seat.peer, seat.pid}) {
    if (fd >= 0) ::close(fd);
  }
  First first(seat);
  return first.settle() ? first.serve() : 1;
}

int run_keeper(const Seat& seat, int ready) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  char byte = 0;
  if (::read(ready, &byte, 1) != 1 || !First(seat).settle()) return 1;
  (void)!::write(ready, &byte, 1);
  // Nothing of the broker's stays open: the namespaces' ends must not depend on us.
  (void)isolation::close_range(0, ~0u, 0);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    siginfo_t info;
    (void)::sigwaitinfo(&set, &info);
  }
}

}  // namespace ns
