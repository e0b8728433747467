#include "features.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/fd.hpp>
#include <sstream>

namespace bwrap {

namespace isolation = sdk::isolation;
using isolation::Fd;

namespace {

constexpr const char* kPlaces[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap"};
constexpr const char* kNeeded[] = {
    "--args",         "--bind-fd",  "--ro-bind-fd",  "--ro-bind-try",     "--unshare-all",
    "--unshare-user", "--cap-drop", "--new-session", "--die-with-parent", "--seccomp",
    "--as-pid-1",     "--perms",    "--size",        "--remount-ro",      "--ro-bind-data"};
constexpr const char kInstall[] =
    "install the package bubblewrap (apt, dnf, zypper, apk: bubblewrap; pacman: bubblewrap)";

// What `program option` prints, within five seconds.
bool ask(const std::string& program, const char* option, std::string& out) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  char* argv[] = {const_cast<char*>(program.c_str()), const_cast<char*>(option), nullptr};
  char* env[] = {nullptr};
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, env);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  write_end.reset();
  if (error != 0) {
    errno = error;
    return false;
  }
  bool whole = false;
  for (;;) {
    pollfd p{read_end.get(), POLLIN, 0};
    const int n = ::poll(&p, 1, 5000);
    if (n < 0 && errno == EINTR) continue;
    char text[4096];
    const ssize_t got = n > 0 ? ::read(read_end.get(), text, sizeof text) : -1;
    whole = got == 0;
    if (got <= 0) break;
    if (out.size() < 65536) out.append(text, static_cast<size_t>(got));
  }
  if (!whole) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  errno = ETIMEDOUT;
  return whole;
}

}  // namespace

sdk::Result<std::string> find_program(const std::string& configured) {
  if (!configured.empty()) {
    if (configured[0] != '/' || ::access(configured.c_str(), X_OK) != 0) {
      return sdk::failure(BH_FAILED_PRECONDITION,
                          "the configured bwrap, " + configured + ", cannot be run", "no_bwrap",
                          "bwrap", "configure an absolute path to bubblewrap's program");
    }
    return configured;
  }
  for (const char* place : kPlaces) {
    if (::access(place, X_OK) == 0) return std::string(place);
  }
  return sdk::failure(BH_UNAVAILABLE, "bubblewrap is not installed", "no_bwrap", {}, kInstall);
}

sdk::Result<Features> find_features(const std::string& program) {
  Features f;
  f.program = program;
  std::string help, version;
  if (!ask(f.program, "--help", help) || !ask(f.program, "--version", version)) {
    return sdk::failure(BH_UNAVAILABLE, f.program + " does not answer", "no_bwrap", {}, kInstall);
  }
  std::istringstream words(help);
  for (std::string word; words >> word;) {
    if (word.rfind("--", 0) == 0) f.options.insert(word);
  }
  f.version = version.substr(0, version.find('\n'));
  std::string missing;
  for (const char* option : kNeeded) {
    if (!f.has(option)) missing += std::string(missing.empty() ? "" : ", ") + option;
  }
  if (!missing.empty()) {
    return sdk::failure(BH_UNAVAILABLE, f.program + " (" + f.version + ") lacks " + missing,
                        "old_bwrap", {},
                        "update the package bubblewrap, with its security updates");
  }
  return f;
}

}  // namespace bwrap
