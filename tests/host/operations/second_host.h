// A second process on the same DATA_ROOT, driven by lines.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "support/embedder.h"

extern char** environ;

namespace bh_test {

class SecondHost {
 public:
  explicit SecondHost(const std::string& config) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    char program[] = BH_SECOND_HOST;
    std::string text = config;
    char* argv[] = {program, text.data(), nullptr};
    if (::posix_spawn(&pid_, program, &actions, nullptr, argv, environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    ready = line() == "ready";
  }
  ~SecondHost() {
    kill();
    ::close(to_);
    ::close(from_);
  }
  SecondHost(const SecondHost&) = delete;
  SecondHost& operator=(const SecondHost&) = delete;

  pid_t pid() const { return pid_; }
  void tell(const std::string& text) {
    const std::string whole = text + "\n";
    (void)!::write(to_, whole.data(), whole.size());
  }
  // What it says next; empty: it is gone.
  std::string line() {
    for (;;) {
      const std::size_t end = pending_.find('\n');
      if (end != std::string::npos) {
        std::string out = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return out;
      }
      char buffer[65536];
      const ssize_t got = ::read(from_, buffer, sizeof buffer);
      if (got <= 0) return {};
      pending_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  std::string ask(const std::string& text) {
    tell(text);
    return line();
  }
  // kill -9, and it is dead.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
  }

  bool ready = false;

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string pending_;
};

}  // namespace bh_test
