// bulkhead/sdk/isolation/launch_init.hpp - the helper's inner half: starts the command, reaps,
// reports how it ended and what it left behind. Either the first process of a pid namespace (when
// it ends, the kernel ends everything in there) or a subreaper. Single-threaded.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_INIT_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_INIT_HPP

#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>

#include <functional>
#include <memory>

#include "launch_job.hpp"
#include "launch_note.hpp"
#include "launch_tree.hpp"

namespace bulkhead::sdk::isolation {

struct InitFds {
  int control = -1;
  int in = -1, out = -1, err = -1;
  std::vector<int> groups;  // Cgroup::doors(): the command joins, we do not
  int host = -1;            // subreaper only: pidfd of the host
};

inline uint64_t monotonic_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

class Init {
 public:
  // `worker`: what runs in the place of a program where the task asks for that. `confine`: the last
  // thing that the command's process does before, where its walls are its own; false: errno tells.
  Init(Task task, InitFds fds, int (*worker)(), std::function<bool()> confine = {})
      : task_(std::move(task)),
        fds_(std::move(fds)),
        worker_(worker),
        confine_(std::move(confine)),
        first_(::getpid() == 1) {}

  // Returns when the command and everything that it left has ended.
  int run() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGRTMIN + 1);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    int pipe[2];
    if (!signals_ || ::pipe2(pipe, O_CLOEXEC) != 0) return not_run(Note::kFork, errno);
    Fd ready(pipe[0]), tell(pipe[1]);
    if (task_.rows != 0 && !open_terminal()) return not_run(Note::kTerminals, errno);
    leader_ = ::fork();
    if (leader_ < 0) return not_run(Note::kFork, errno);
    if (leader_ == 0) become_command(tell.get());
    tell.reset();
    let_go();
    int32_t trouble[2] = {0, 0};
    ssize_t n;
    do {
      n = ::read(ready.get(), trouble, sizeof trouble);
    } while (n < 0 && errno == EINTR);
    if (n == static_cast<ssize_t>(sizeof trouble)) {
      end_all();
      return not_run(trouble[0], trouble[1]);
    }
    Note started;
    started.kind = Note::kStarted;
    (void)send_note(fds_.control, started);
    if (task_.wall_ns != 0) deadline_ = monotonic_ns() + task_.wall_ns;
    watch();
    end_all();
    return 0;
  }

 private:
  int not_run(int32_t stage, int error) {
    Note note;
    note.kind = Note::kNotRun;
    note.a = stage;
    note.b = error;
    (void)send_note(fds_.control, note);
    return 1;
  }

  // The command's own, in a session of its own; the host gets the other end of it.
  bool open_terminal() {
    Fd ours(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    int locked = 0;
    winsize size{};
    size.ws_row = static_cast<unsigned short>(std::min(task_.rows, 65535u));
    size.ws_col = static_cast<unsigned short>(std::min(task_.columns, 65535u));
    if (!ours || ::ioctl(ours.get(), TIOCSPTLCK, &locked) != 0 ||
        ::ioctl(ours.get(), TIOCSWINSZ, &size) != 0) {
      return false;
    }
    // By number from our end: no path that somebody could have put something else at.
    terminal_.reset(::ioctl(ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    Note note;
    note.kind = Note::kTerminal;
    return terminal_ && send_note_with(fds_.control, note, ours.get());
  }

  // In the child, between fork and exec: only what may be done there.
  [[noreturn]] void become_command(int tell) {
    auto give_up = [&](int32_t stage) {
      const int32_t trouble[2] = {stage, errno};
      (void)!::write(tell, trouble, sizeof trouble);
      ::_exit(127);
    };
    // A first process takes all with it; a mere subreaper that is killed would leave the command.
    if (!first_) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    for (const int group : fds_.groups) {
      if (::write(group, "0", 1) != 1) give_up(Note::kLimits);
    }
    // Not above 2 yet: dup2 from a descriptor onto itself would keep its close-on-exec flag.
    const int terminal = terminal_.get();
    if (terminal >= 0 && ::ioctl(terminal, TIOCSCTTY, 0) != 0) give_up(Note::kTerminals);
    if (::dup2(terminal >= 0 ? terminal : fds_.in, 0) < 0 ||
        ::dup2(terminal >= 0 ? terminal : fds_.out, 1) < 0 ||
        ::dup2(terminal >= 0 ? terminal : fds_.err, 2) < 0) {
      give_up(Note::kFork);
    }
    if (close_range(3, UINT_MAX, kCloseRangeCloexec) != 0) give_up(Note::kFork);
    for (const Limit& l : task_.limits) {
      const rlimit limit{l.value, l.value};
      if (::syscall(SYS_prlimit64, 0, l.resource, &limit, nullptr) != 0) give_up(Note::kLimits);
    }
    if (!task_.cwd.empty() && ::chdir(task_.cwd.c_str()) != 0) give_up(Note::kFolder);
    if (task_.cwd_inode != 0) {
      struct stat st {};
      const bool same = ::stat(".", &st) == 0 && st.st_dev == task_.cwd_device &&
                        st.st_ino == task_.cwd_inode;
      if (!same) errno = ESTALE, give_up(Note::kFolder);
    }
    for (int number = 1; number < NSIG; ++number) {
      if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (confine_ && !confine_()) give_up(Note::kConfine);
    if (task_.worker != 0) ::_exit(worker_());
    execute();
    give_up(Note::kProgram);
    ::_exit(127);
  }

  // As execvpe does, but without its fallback to a shell, and with the path of the new environment.
  void execute() {
    std::vector<char*> argv, env;
    for (auto& s : task_.argv) argv.push_back(s.data());
    for (auto& s : task_.env) env.push_back(s.data());
    argv.push_back(nullptr);
    env.push_back(nullptr);
    const std::string& name = task_.argv[0];
    if (name.find('/') != std::string::npos) {
      ::execve(name.c_str(), argv.data(), env.data());
      return;
    }
    std::string_view path = "/usr/local/bin:/usr/bin:/bin";
    for (const auto& s : task_.env) {
      if (s.rfind("PATH=", 0) == 0) path = std::string_view(s).substr(5);
    }
    int worst = ENOENT;
    for (size_t at = 0; at <= path.size() && !name.empty();) {
      const size_t end = std::min(path.find(':', at), path.size());
      std::string file(end == at ? std::string_view(".") : path.substr(at, end - at));
      file += "/" + name;
      ::execve(file.c_str(), argv.data(), env.data());
      if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return;
      if (errno == EACCES) worst = EACCES;
      at = end + 1;
    }
    errno = worst;
  }

  // The command's pipes are its own from here on, or their ends would never be seen.
  void let_go() {
    terminal_.reset();
    for (const int fd : {fds_.in, fds_.out, fds_.err}) ::close(fd);
    for (const int group : fds_.groups) ::close(group);
    const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int fd : {0, 1, 2}) {
      if (nothing) (void)::dup2(nothing.get(), fd);
    }
  }

  void signal_all(int number) {
    if (first_) {
      (void)::kill(-1, number);  // all of this pid namespace but us
    } else {
      signal_descendants(number);
    }
  }
  // A first process need not: when it ends, the kernel does it.
  void end_all() {
    if (!first_ && !left_alone_) kill_descendants();
  }

  void watch() {
    for (;;) {
      pollfd sets[3] = {
          {signals_.get(), POLLIN, 0}, {fds_.control, POLLIN, 0}, {fds_.host, POLLIN, 0}};
      int timeout = -1;
      if (deadline_ != 0 && !exited_) {
        const uint64_t now = monotonic_ns();
        timeout =
            now >= deadline_
                ? 0
                : static_cast<int>(std::min<uint64_t>((deadline_ - now) / 1000000 + 1, INT_MAX));
      }
      const int n = ::poll(sets, 3, timeout);
      if (n < 0 && errno != EINTR) return;
      if (deadline_ != 0 && !exited_ && monotonic_ns() >= deadline_) {
        time_up_ = true;
        deadline_ = 0;
        signal_all(SIGKILL);
      }
      if (n <= 0) continue;
      if (sets[2].revents != 0) return;
      if (sets[1].revents != 0 && !listen()) return;
      if (sets[0].revents != 0 && !reap()) return;
    }
  }

  // false: enough.
  bool listen() {
    Note note;
    switch (receive_note(fds_.control, note)) {
      case 1:
        break;
      case 0:
        return false;
      default:
        return true;
    }
    if (note.kind == Note::kFinish) {
      left_alone_ = task_.keep != 0 && exited_ && !time_up_;
      return false;
    }
    if (note.kind == Note::kSignal) signal_all(note.a);
    return true;
  }

  // false: nothing is left, or we are told to end.
  bool reap() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (first_ || info.ssi_signo == SIGCHLD) continue;
      if (info.ssi_signo == SIGTERM) return false;
      signal_all(info.ssi_int);
    }
    bool rest = true;
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) {
        rest = pid == 0;
        break;
      }
      if (pid == leader_) {
        exited_ = true;
        status_ = status;
      }
    }
    if (exited_ && !told_) {
      told_ = true;
      Note note;
      note.kind = Note::kExited;
      note.a = status_;
      note.b = (rest ? Note::kLeftovers : 0) | (time_up_ ? Note::kTimeUp : 0);
      note.c = cpu_of_children();
      (void)send_note(fds_.control, note);
    }
    return rest;
  }

  Task task_;
  InitFds fds_;
  int (*worker_)();
  std::function<bool()> confine_;
  bool first_;
  Fd signals_, terminal_;
  pid_t leader_ = -1;
  uint64_t deadline_ = 0;
  int status_ = 0;
  bool exited_ = false, told_ = false, time_up_ = false, left_alone_ = false;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_INIT_HPP
