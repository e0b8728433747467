// The program as its users have it: started with pipes, fed, read, signalled, waited for. A child
// that is still there after a minute and a half is killed, so that a hang fails and does not stay.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bh_test {

struct ChildSetup {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> env;  // NAME=VALUE
  std::string cwd;
  int stdout_fd = -1;  // instead of a pipe
};

class Child {
 public:
  explicit Child(const ChildSetup& setup) {
    int stdin_pipe[2];
    int stdout_pipe[2];
    int stderr_pipe[2];
    if (::pipe2(stdin_pipe, O_CLOEXEC) != 0 || ::pipe2(stdout_pipe, O_CLOEXEC) != 0 ||
        ::pipe2(stderr_pipe, O_CLOEXEC) != 0) {
      return;
    }
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addchdir_np(&actions, setup.cwd.c_str());
    ::posix_spawn_file_actions_adddup2(&actions, stdin_pipe[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions,
                                       setup.stdout_fd >= 0 ? setup.stdout_fd : stdout_pipe[1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, stderr_pipe[1], 2);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    // The test ignores SIGPIPE and may block signals; its children start as a shell's would.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> words{setup.program};
    words.insert(words.end(), setup.arguments.begin(), setup.arguments.end());
    std::vector<std::string> env = setup.env;
    if (::posix_spawn(&pid_, setup.program.c_str(), &actions, &attributes, pointers(words).data(),
                      pointers(env).data()) != 0) {
      pid_ = -1;
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    ::close(stdin_pipe[0]);
    ::close(stdout_pipe[1]);
    ::close(stderr_pipe[1]);
    in_ = stdin_pipe[1];
    out_ = stdout_pipe[0];
    err_ = stderr_pipe[0];
    for (int fd : {in_, out_, err_}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
    deadline_ms_ = now_ms() + 90000;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    close_input();
    close_output();
    if (err_ >= 0) ::close(err_);
  }

  bool started() const { return pid_ > 0; }
  void signal(int number) { ::kill(pid_, number); }
  void close_input() { close_fd(in_); }
  void close_output() { close_fd(out_); }

  // Feeds `input`, reads stdout and stderr, until `done` says so or both have ended.
  template <class Done>
  void pump(std::string_view input, Done done) {
    while (!done() && (out_ >= 0 || err_ >= 0)) {
      pollfd fds[3] = {
          {out_, POLLIN, 0}, {err_, POLLIN, 0}, {input.empty() ? -1 : in_, POLLOUT, 0}};
      auto left = deadline_ms_ - now_ms();
      if (left <= 0 || ::poll(fds, 3, static_cast<int>(left)) == 0) {
        timed_out_ = true;
        ::kill(pid_, SIGKILL);
        return;
      }
      if (fds[0].revents != 0) {
        read_some(out_, out);
        if (on_out) {
          on_out(out);
          out.clear();
        }
      }
      if (fds[1].revents != 0) read_some(err_, err);
      if (fds[2].revents != 0) {
        ssize_t n = ::write(in_, input.data(), std::min<std::size_t>(input.size(), 1 << 20));
        if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
        if (n < 0 && errno != EAGAIN) input = {};
        if (input.empty() && !keep_input_open) close_input();
      }
    }
  }

  void read_until(std::string_view text) {
    pump({}, [&] { return out.find(text) != std::string::npos; });
  }

  // The most memory that it has had so far. Not what wait4() tells: that counts this process's own
  // size, from before the exec, too.
  long peak_kib() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("VmHWM:", 0) == 0) return std::stol(line.substr(6));
    }
    return -1;
  }

  // To the end; the exit code, -signal where one killed it, -1000 where it hung.
  int finish(std::string_view input = {}) {
    keep_input_open = false;
    if (input.empty()) close_input();
    pump(input, [] { return false; });
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, 0) != pid_) return -1001;
    pid_ = -1;
    if (timed_out_) return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string out;
  std::string err;
  // Takes what comes on stdout in place of `out`, for what is too much to keep.
  std::function<void(std::string_view)> on_out;
  bool keep_input_open = false;  // after what pump() was given

 private:
  static std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& w : words) all.push_back(w.data());
    all.push_back(nullptr);
    return all;
  }
  static std::int64_t now_ms() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
  }
  static void close_fd(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  static void read_some(int& fd, std::string& into) {
    char buffer[65536];
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) into.append(buffer, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::int64_t deadline_ms_ = 0;
  bool timed_out_ = false;
};

}  // namespace bh_test
