// bulkhead/sdk/isolation/launch.hpp - starts a backend's helper program for one command and holds
// all that the host has of it: its pidfd, its sockets, the command's pipes.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_HPP

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "../result.hpp"
#include "launch_job.hpp"
#include "launch_note.hpp"
#include "paths.hpp"

namespace bulkhead::sdk::isolation {

// Where a helper program of the plugin that holds `symbol` lies: beside the library, else where it
// is installed (BULKHEAD_HELPER_DIR: absolute, or from the library's folder). Empty: in neither.
inline std::string helper_path(const void* symbol, const std::string& name,
                               const std::string& installed) {
  Dl_info info{};
  if (::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string library = canonical(info.dli_fname);
  if (library.empty()) return {};
  const std::string here = parent_of(library);
  const std::string there = installed.rfind('/', 0) == 0 ? installed : here + "/" + installed;
  for (const std::string& file : {here + "/" + name, there + "/" + name}) {
    if (::access(file.c_str(), X_OK) == 0) return canonical(file);
  }
  return {};
}

constexpr size_t kMostProgram = size_t{64} << 20;

// What is left of one file, to the end of the other; errno tells why not. EFBIG: over kMostProgram.
inline bool copy_program(int from, int to) {
  // From file to file inside the kernel: through a buffer of ours it takes five times as long. Not
  // every file system and sandbox lets that be done.
  bool inside = true;
  std::vector<char> buffer;
  for (size_t total = 0; total <= kMostProgram;) {
    const size_t most = kMostProgram + 1 - total;
    ssize_t n = 0;
    if (inside) {
      n = ::sendfile(to, from, nullptr, most);
    } else {
      buffer.resize(size_t{64} << 10);
      n = ::read(from, buffer.data(), std::min(most, buffer.size()));
      if (n > 0 && !write_all(to, {buffer.data(), static_cast<size_t>(n)})) return false;
    }
    if (n == 0) return true;
    if (n > 0) {
      total += static_cast<size_t>(n);
    } else if (inside && (errno == EINVAL || errno == ENOSYS)) {
      inside = false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  errno = EFBIG;
  return false;
}

// The program as a sealed memory file: run from there inside a sandbox, it cannot be reached on
// disk through /proc/PID/exe. RESOURCE_EXHAUSTED too_large; FAILED_PRECONDITION memory_file.
inline Result<Fd> sealed_copy(const std::string& program) {
  const Fd from(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  Fd fd = from ? memory_file("bulkhead-init", "") : Fd();
  if (fd && copy_program(from.get(), fd.get()) && seal(fd.get())) return fd;
  if (errno == EFBIG) {
    JsonObject details;
    details.text("reason", "too_large").number("limit", static_cast<int64_t>(kMostProgram));
    details.text("remedy", "install it again");
    return Failure(BH_RESOURCE_EXHAUSTED,
                   "the helper program " + program + " has more than 64 MiB", details.str());
  }
  return failure(BH_FAILED_PRECONDITION,
                 "the helper program " + program + " cannot be copied into memory: " + std::strerror(errno),
                 "memory_file", {}, "allow memory files (memfd_create)");
}

// Another open file on the same memory file, with a position of its own.
inline Fd reopen(int fd) {
  return Fd(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
}

struct LaunchOrder {
  std::string helper;  // absolute
  Job job;
  Task task;
  std::vector<int> extra;  // borrowed; kFdExtra and on
  int init = -1;           // borrowed: sealed_copy()
  bool input = false;      // a pipe for stdin, else /dev/null
};

// Moves; what it was started for must have ended, or have been told to end, before it goes.
class Launched {
 public:
  Launched() = default;
  Launched(Launched&&) = default;
  Launched& operator=(Launched&&) = default;
  ~Launched() {
    if (!reaped_ && pidfd) {
      (void)pidfd_send_signal(pidfd.get(), SIGKILL);
      reap();
    }
  }

  // The command's own ends of its pipes.
  struct Streams {
    Fd in, out, err;
  };
  // Makes both ends; `input`: a pipe for stdin, else /dev/null.
  Result<Streams> make_streams(bool input) {
    Streams theirs;
    if (!pipe_pair(out, theirs.out) || !pipe_pair(err, theirs.err)) return no("a pipe");
    if (input) {
      if (!pipe_pair(theirs.in, in)) return no("a pipe");
      (void)::fcntl(in.get(), F_SETFL, O_NONBLOCK);
    } else {
      theirs.in.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    if (!theirs.in) return no("a descriptor");
    for (const Fd* fd : {&out, &err}) (void)::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    return theirs;
  }

  static Result<Launched> start(const LaunchOrder& order) {
    Launched l;
    Fd control_theirs;
    const Fd job = memory_file("job", encode(order.job));
    const Fd task = memory_file("task", encode(order.task));
    const Fd host(pidfd_open(::getpid()));
    if (!socket_pair(l.control, control_theirs)) return no("a socket");
    auto theirs = l.make_streams(order.input);
    if (!theirs) return std::move(theirs).failure();
    if (!job || !task || !host) return no("a descriptor");
    if (auto st = l.spawn(order.helper, "launch"); !st) return std::move(st).failure();

    std::vector<int> fds(kFdExtra);
    fds[kFdJob] = job.get();
    fds[kFdTask] = task.get();
    fds[kFdIn] = theirs->in.get();
    fds[kFdOut] = theirs->out.get();
    fds[kFdErr] = theirs->err.get();
    fds[kFdControl] = control_theirs.get();
    fds[kFdPeer] = l.control.get();
    fds[kFdHost] = host.get();
    fds[kFdInit] = order.init >= 0 ? order.init : task.get();
    fds.insert(fds.end(), order.extra.begin(), order.extra.end());
    if (!send_fds(l.job.get(), fds)) return no("the helper's descriptors");
    return l;
  }

  // Starts a helper program that stays: `job` is its descriptor 3, `trouble` its descriptor 2.
  static Result<Launched> start_helper(const std::string& helper, const char* mode) {
    Launched l;
    if (auto st = l.spawn(helper, mode); !st) return std::move(st).failure();
    return l;
  }

  // Asks the helper to end everything; it ends when that is done.
  void end_all() const { (void)pidfd_send_signal(pidfd.get(), SIGTERM); }
  void kill_helper() const { (void)pidfd_send_signal(pidfd.get(), SIGKILL); }

  // After pidfd is readable: takes the zombie away.
  void reap() {
    if (reaped_) return;
    siginfo_t info{};
    int n;
    do {
      // P_PIDFD; where the embedder ignores SIGCHLD there is nothing to take, which is as good.
      n = ::waitid(static_cast<idtype_t>(3), static_cast<id_t>(pidfd.get()), &info, WEXITED);
    } while (n != 0 && errno == EINTR);
    reaped_ = true;
  }

  pid_t pid = -1;
  // The helper is not our child, and when `job` is closed it ends whatever is left by itself.
  bool looked_after = false;
  Fd pidfd, job, control;
  Fd in, out, err;  // the host's ends
  Fd trouble;       // what helper and wall say about a failed set-up

  // What making a descriptor failed with, out of errno.
  static Failure no(const std::string& what) {
    const bool full = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return failure(full ? BH_RESOURCE_EXHAUSTED : BH_INTERNAL,
                   "cannot make " + what + ": " + std::strerror(errno), "launch");
  }
  static bool socket_pair(Fd& one, Fd& other) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
    one.reset(pair[0]);
    other.reset(pair[1]);
    return true;
  }
  static bool pipe_pair(Fd& read, Fd& write) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }

 private:
  Status spawn(const std::string& helper, const char* mode) {
    Fd job_theirs, trouble_theirs;
    if (!socket_pair(job, job_theirs)) return no("a socket");
    if (!pipe_pair(trouble, trouble_theirs)) return no("a pipe");
    (void)::fcntl(trouble.get(), F_SETFL, O_NONBLOCK);
    struct Spawn {
      posix_spawn_file_actions_t actions;
      posix_spawnattr_t attributes;
      Spawn() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
      }
      ~Spawn() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
      }
    } s;
    // Above what is replaced, or one replacement could destroy the source of the next.
    const Fd job_high(::fcntl(job_theirs.get(), F_DUPFD_CLOEXEC, 10));
    const Fd trouble_high(::fcntl(trouble_theirs.get(), F_DUPFD_CLOEXEC, 10));
    if (!job_high || !trouble_high) return no("a descriptor");
    ::posix_spawn_file_actions_addopen(&s.actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&s.actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&s.actions, trouble_high.get(), 2);
    ::posix_spawn_file_actions_adddup2(&s.actions, job_high.get(), 3);
    // Host threads have all signals blocked; the helper starts from the defaults.
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::sigdelset(&all, SIGKILL);
    ::sigdelset(&all, SIGSTOP);
    ::posix_spawnattr_setsigmask(&s.attributes, &none);
    ::posix_spawnattr_setsigdefault(&s.attributes, &all);
    ::posix_spawnattr_setflags(&s.attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    const std::string name = helper.substr(helper.rfind('/') + 1);
    char* argv[] = {const_cast<char*>(name.c_str()), const_cast<char*>(mode), nullptr};
    char* env[] = {nullptr};
    const int error = ::posix_spawn(&pid, helper.c_str(), &s.actions, &s.attributes, argv, env);
    if (error != 0) {
      errno = error;
      return no("the helper " + helper);
    }
    // Not reaped by anybody else, so the number cannot have been given away.
    pidfd.reset(pidfd_open(pid));
    if (!pidfd) {
      const Failure f = no("a pidfd");
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      reaped_ = true;
      return f;
    }
    return {};
  }

  bool reaped_ = false;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_HPP
