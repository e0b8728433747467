#include "loader/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/beneath.h"
#include "base/own_folder.h"
#include "base/utf8.h"
#include "loader/probe/report.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace bh {
namespace {

constexpr size_t kShownLimit = 200;  // bytes of what a plugin printed that a report repeats

// How the helper ended.
struct Ending {
  bool in_time = true;
  int code = -1;   // exit code, or
  int signal = 0;  // the signal that ended it
};

struct Trial {
  Ending ending;
  std::string report;
  std::string printed;
  std::string complaint;  // the beginning of stderr
};

// A file in memory, far above 3 so that it cannot be overwritten by the child's own numbers.
Fd memory_file() {
  Fd fd(::memfd_create("bulkhead-probe", MFD_CLOEXEC));
  return Fd(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 10) : -1);
}

std::string content(const Fd& fd, size_t limit) {
  std::string text(limit, '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

// Waits for the end by pidfd; whoever is not back in time is killed with all its children.
Ending wait_for(pid_t pid, int time_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(time_ms);
  Ending ending;
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  while (pidfd) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    struct pollfd end = {pidfd.get(), POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&end, 1, static_cast<int>(left.count())) : 0;
    if (ready > 0) break;
    if (ready < 0 && errno == EINTR) continue;
    ending.in_time = false;
    break;
  }
  // Also after a quiet end: it may have left children.
  ::kill(-pid, SIGKILL);
  siginfo_t info{};
  int waited = 0;
  do {
    waited = pidfd ? ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd.get()), &info,
                              WEXITED)
                   : ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED);
  } while (waited < 0 && errno == EINTR);
  // An embedder that ignores SIGCHLD takes the status away; then the report alone counts.
  if (waited == 0 && info.si_code == CLD_EXITED) ending.code = info.si_status;
  if (waited == 0 && info.si_code != CLD_EXITED) ending.signal = info.si_status;
  return ending;
}

std::optional<Trial> run(const std::string& helper, const std::string& library, int time_ms) {
  const Fd printed = memory_file(), complaint = memory_file(), report = memory_file();
  if (!printed || !complaint || !report) return std::nullopt;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&how);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, printed.get(), 1);
  ::posix_spawn_file_actions_adddup2(&files, complaint.get(), 2);
  ::posix_spawn_file_actions_adddup2(&files, report.get(), probe::kReportFd);
  // Host threads have all signals blocked, and an embedder may ignore some.
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setsigdefault(&how, &all);
  ::posix_spawnattr_setpgroup(&how, 0);
  ::posix_spawnattr_setflags(
      &how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string name = "bulkhead-probe", path = library;
  char* const argv[] = {name.data(), path.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, helper.c_str(), &files, &how, argv, environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  if (error != 0) return std::nullopt;

  Trial trial;
  trial.ending = wait_for(pid, time_ms);
  trial.report = content(report, 4096);
  trial.printed = content(printed, kShownLimit);
  trial.complaint = content(complaint, kShownLimit);
  return trial;
}

struct Progress {
  std::string last;  // the last step begun or ended
  LoadStage stage = LoadStage::load;
  LoadStage printed_at = LoadStage::none;
};

Progress read_report(const std::string& report) {
  Progress progress;
  std::istringstream lines(report);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    long long bytes = 0;
    words >> progress.last >> bytes;
    if (bytes > 0 && progress.printed_at == LoadStage::none) progress.printed_at = progress.stage;
    if (progress.last == probe::kEntering) progress.stage = LoadStage::entry;
    if (progress.last == probe::kAsking) progress.stage = LoadStage::interface;
  }
  return progress;
}

const char* doing(LoadStage stage) {
  switch (stage) {
    case LoadStage::entry:
      return "while its entry ran";
    case LoadStage::interface:
      return "in get_interface";
    default:
      return "while it was loaded";
  }
}

// The first line, fit for a report.
std::string shown(const std::string& text) {
  std::string line = utf8::repair(text.substr(0, text.find('\n')));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

Checked<void> judge(const Trial& trial, int time_ms) {
  const Progress progress = read_report(trial.report);
  const Ending& ending = trial.ending;
  const std::string during = doing(progress.stage);
  const std::string said =
      trial.complaint.empty() ? "" : "; it said: \"" + shown(trial.complaint) + "\"";
  const std::string tried =
      "report it to the plugin's author; the host is not harmed, since it was tried in a process of "
      "its own";
  if (!ending.in_time) {
    return broken(progress.stage,
                  "did not come back within " + std::to_string(time_ms) + " ms " + during,
                  ask_author("load and enter without waiting, threads or connections; on an overloaded "
                             "machine, try it again"));
  }
  if (progress.printed_at != LoadStage::none) {
    return refuse(progress.printed_at,
                  std::string("printed to standard output ") + doing(progress.printed_at) + ": \"" +
                      shown(trial.printed) + "\"",
                  ask_author("log by call->host->api->log(): standard output belongs to the program (an "
                             "MCP client reads it)"));
  }
  if (progress.last == probe::kDone || progress.last == probe::kPassed) return {};
  if (ending.signal != 0) {
    return broken(progress.stage,
                  "crashed " + during + " (signal " + std::to_string(ending.signal) + ", " +
                      ::strsignal(ending.signal) + ")" + said,
                  tried);
  }
  return broken(progress.stage,
                "ended the process " + during +
                    (ending.code < 0 ? "" : " (exit code " + std::to_string(ending.code) + ")") +
                    said,
                tried);
}

}  // namespace

PluginProbe::PluginProbe(std::string helper, std::string memory, int time_ms)
    : helper_(helper.empty() ? own_helper("bulkhead-probe") : std::move(helper)),
      memory_(std::move(memory)),
      time_ms_(time_ms) {}

Checked<bool> PluginProbe::try_out(const File& library, const std::string& sha256) {
  if (known(sha256)) return true;
  if (helper_.empty()) return false;
  const auto trial = run(helper_, library.path, time_ms_);
  if (!trial) return false;
  if (auto ok = judge(*trial, time_ms_); !ok) return tl::make_unexpected(ok.error());
  remember(sha256);
  return true;
}

bool PluginProbe::known(const std::string& sha256) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (passed_.count(sha256) != 0) return true;
  if (memory_.empty()) return false;
  struct stat st;
  return ::stat((memory_ + "/" + sha256).c_str(), &st) == 0 && st.st_uid == ::geteuid();
}

void PluginProbe::remember(const std::string& sha256) {
  std::lock_guard<std::mutex> lock(mutex_);
  passed_.insert(sha256);
  if (memory_.empty()) return;
  // A memory that cannot be written costs the next process a trial, nothing else.
  auto folder = make_folder(memory_, 0700);
  if (folder) (void)write_beneath(folder->get(), sha256, "passed\n", 0600);
}

}  // namespace bh
