// bulkhead-landlock-launch: the helper program of isolation_landlock. Three processes a command:
//
//   the launcher  watches over the rest for the host, and keeps what the filter asks about
//   the init      starts the command, reaps, reports; takes in what a command leaves behind
//   the command   closes Landlock and the filter around itself, then becomes its program
//
// It reads nothing that a sandbox wrote but the arguments of calls that the keeper answers.
#include <grp.h>
#include <linux/capability.h>
#include <string.h>

#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/isolation/launch_init.hpp>
#include <bulkhead/sdk/isolation/launch_note.hpp>
#include <bulkhead/sdk/isolation/seccomp_apply.hpp>
#include <cstdio>

#include "keeper.h"

namespace {

using namespace bulkhead::sdk::isolation;
using landlocked::kFdDoors;
using landlocked::kFdFilter;
using landlocked::kFdWall;

constexpr int kSocket = 3;

int trouble(const std::string& what) {
  std::fprintf(stderr, "launcher: %s\n", what.c_str());
  return 1;
}
int failed(const std::string& what) { return trouble(what + ": " + ::strerror(errno)); }

// Also root's: nothing in here needs one, and no program gets one back. Its further groups go
// first, which only root can do.
bool drop_rights() {
  if (::geteuid() == 0) (void)::setgroups(0, nullptr);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Without the right to, which no_new_privs makes as good.
  for (int one = 0; ::prctl(PR_CAPBSET_READ, one, 0, 0, 0) >= 0; ++one) {
    (void)::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
  }
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return ::syscall(SYS_capset, &head, none) == 0;
}

// False: `error` says what is not as it was when the command was prepared.
bool allow_all(const landlock::Ruleset& rules, const landlocked::Wall& wall, std::string& error) {
  for (const landlocked::Grant& grant : wall.grants) {
    const Fd fd = open_canonical(grant.path);
    struct stat st {};
    const bool same = fd && ::fstat(fd.get(), &st) == 0 && st.st_dev == grant.device &&
                      st.st_ino == grant.inode;
    if (same && rules.allow(fd.get(), grant.rights)) continue;
    if (grant.optional != 0) continue;
    error = !fd    ? "opening " + grant.path + ": " + ::strerror(errno)
            : same ? "allowing " + grant.path + ": " + ::strerror(errno)
                   : grant.path + " is no longer what it was when the command was prepared";
    return false;
  }
  return true;
}

struct Walls {
  landlock::Ruleset rules;
  std::string filter;
  Fd mail;  // to the keeper

  // In the command's process, last.
  bool close() const {
    // No key of the host's session can be looked up from a session of its own. Where the kernel has
    // no keys, there are none.
    (void)::syscall(SYS_keyctl, 1, nullptr);
    if (!rules.enforce()) return false;
    const Fd listener = apply_asking_filter(filter);
    return listener && send_fds(mail.get(), {listener.get()});
  }
};

int become_init(Task task, std::vector<Fd>& fds, const Walls& walls, pid_t launcher) {
  // Asked to end, it takes everything with it; killed, it would leave what the command has started.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != launcher) return 1;
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return failed("no subreaper");
  InitFds init;
  init.control = fds[kFdControl].get();
  // Taken over: the init closes them once the command has them.
  init.in = fds[kFdIn].release();
  init.out = fds[kFdOut].release();
  init.err = fds[kFdErr].release();
  init.host = fds[kFdHost].get();
  for (size_t i = kFdDoors; i < fds.size(); ++i) init.groups.push_back(fds[i].release());
  return Init(std::move(task), std::move(init), &serve_files, [&walls] { return walls.close(); })
      .run();
}

int launch_command() {
  (void)::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  // Whatever of the host's was open without close-on-exec stops here.
  (void)close_range(kSocket + 1, UINT_MAX, 0);
  (void)!::chdir("/");
  std::vector<Fd> fds = receive_fds(kSocket);
  Task task;
  landlocked::Wall wall;
  Walls walls;
  std::string bytes, more;
  if (fds.size() < kFdDoors || !read_all(fds[kFdTask].get(), bytes) || !decode(bytes, task) ||
      task.argv.empty() || !read_all(fds[kFdWall].get(), more) ||
      !landlocked::decode(more, wall) || !read_filter(fds[kFdFilter].get(), walls.filter)) {
    return trouble("the task cannot be read");
  }
  const Fd signals = watch_signals();
  if (!signals || ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return failed("cannot watch over children");
  }
  if (!drop_rights()) return failed("dropping capabilities");
  const uint64_t ports = wall.ports != 0 ? UINT64_MAX : 0;
  const int version = std::min(landlock_version(), static_cast<int>(wall.version));
  walls.rules = landlock::Ruleset::make({UINT64_MAX, ports, UINT64_MAX}, version);
  if (!walls.rules) return failed("Landlock");
  std::string error;
  if (!allow_all(walls.rules, wall, error)) return trouble(error);
  int mail[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, mail) != 0) return failed("a socket");
  Fd ours(mail[0]);
  walls.mail.reset(mail[1]);

  const pid_t launcher = ::getpid();
  const pid_t init = ::fork();
  if (init < 0) return failed("fork");
  if (init == 0) {
    ours.reset();
    ::_exit(become_init(std::move(task), fds, walls, launcher));
  }
  // The ends of the pipes are the command's alone, and the other end of the mail the init's.
  for (const FdRole role : {kFdIn, kFdOut, kFdErr, kFdControl, kFdTask}) fds[role].reset();
  for (size_t i = kFdDoors; i < fds.size(); ++i) fds[i].reset();
  walls = Walls();
  launch::Keeper keeper(std::move(wall), std::move(ours), init);
  watch(init, signals.get(), kSocket, fds[kFdHost].get(), fds[kFdPeer].get(), &keeper);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == "launch") return launch_command();
  return trouble("this program is started by the plugin isolation_landlock");
}
