#include "id_maps.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/mount_api.hpp>
#include <vector>

namespace ns {

using isolation::Fd;

namespace {

std::string map_lines(const std::vector<IdRange>& ranges) {
  std::string out;
  for (const IdRange& one : ranges) {
    out += std::to_string(one.inside) + " " + std::to_string(one.outside) + " " +
           std::to_string(one.count) + "\n";
  }
  return out;
}

std::string told(const std::string& what) { return what + ": " + ::strerror(errno); }

// Only its standard streams and no environment: it runs as root.
[[noreturn]] void become(const std::vector<std::string>& words, int said) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (::dup2(nothing, 0) != 0 || ::dup2(nothing, 1) != 1 || ::dup2(said, 2) != 2) ::_exit(127);
  (void)isolation::close_range(3, ~0u, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(argv[0], argv.data(), environment);
  ::_exit(127);
}

// PROGRAM PID INSIDE OUTSIDE COUNT …, as newuidmap and newgidmap have it.
std::string run_mapper(const std::string& program, pid_t builder, const std::vector<IdRange>& ranges) {
  std::vector<std::string> words{program, std::to_string(builder)};
  for (const IdRange& one : ranges) {
    for (const uint32_t n : {one.inside, one.outside, one.count}) words.push_back(std::to_string(n));
  }
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return told("a pipe");
  const Fd ours(pipe[0]);
  Fd theirs(pipe[1]);
  const pid_t child = ::fork();
  if (child < 0) return told("starting " + program);
  if (child == 0) become(words, theirs.get());
  theirs.reset();
  std::string text;
  (void)isolation::read_all(ours.get(), text, 300);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  errno = EPERM;
  return program + ": " + (text.empty() ? "it ended without a word" : text);
}

}  // namespace

std::string write_id_maps(const Blueprint& plan, pid_t builder) {
  const std::string proc = "/proc/" + std::to_string(builder);
  if (!plan.map_users.empty()) {
    const std::string trouble = run_mapper(plan.map_users, builder, plan.ids);
    return trouble.empty() ? run_mapper(plan.map_groups, builder, plan.groups) : trouble;
  }
  // Without rights outside, only who cannot leave a group may be given one.
  if (plan.privileged == 0 && !isolation::write_text(proc + "/setgroups", "deny")) {
    return told("the id maps");
  }
  if (!isolation::write_text(proc + "/uid_map", map_lines(plan.ids)) ||
      !isolation::write_text(proc + "/gid_map", map_lines(plan.groups))) {
    return told("the id maps");
  }
  return {};
}

}  // namespace ns
