// Runs the checks: one at a time, with stdout and stderr kept aside, and an answer also for a
// plugin that crashes.
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>

#include "backend.h"
#include "bulkhead/sdk/contract.hpp"
#include "suite.h"
#include "traces.h"

namespace bulkhead::sdk::contract {

namespace {

Suite all_checks() {
  Suite suite;
  add_description(suite);
  add_life_cycle(suite);
  add_exec(suite);
  add_streams(suite);
  add_stops(suite);
  add_ends(suite);
  add_profile(suite);
  add_places(suite);
  add_file_rules(suite);
  add_network(suite);
  add_limits(suite);
  add_identity(suite);
  add_guarantees(suite);
  add_files(suite);
  add_state(suite);
  add_jobs(suite);
  add_images(suite);
  add_threads(suite);
  add_manners(suite);
  return suite;
}

bool wanted(const std::string& name, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  for (const auto& pattern : only) {
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || name.rfind(pattern + ".", 0) == 0) {
      return true;
    }
  }
  return false;
}

// stdout and stderr while a check runs.
class Aside {
 public:
  Aside() {
    std::fflush(stdout);
    std::fflush(stderr);
    file_ = ::memfd_create("contract-output", MFD_CLOEXEC);
    for (const int fd : {1, 2}) {
      saved_[fd - 1] = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
      if (file_ >= 0) ::dup2(file_, fd);
    }
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() { restore(); }
  // What was written meanwhile.
  std::string restore() {
    if (file_ < 0) return {};
    std::fflush(stdout);
    std::fflush(stderr);
    for (const int fd : {1, 2}) {
      if (saved_[fd - 1] >= 0) {
        ::dup2(saved_[fd - 1], fd);
        ::close(saved_[fd - 1]);
      }
    }
    struct stat st {};
    std::string out;
    if (::fstat(file_, &st) == 0 && st.st_size > 0) {
      out.resize(static_cast<size_t>(std::min<off_t>(st.st_size, 4096)));
      const ssize_t n = ::pread(file_, out.data(), out.size(), 0);
      out.resize(n > 0 ? static_cast<size_t>(n) : 0);
    }
    ::close(file_);
    file_ = -1;
    return out;
  }

 private:
  int file_, saved_[2] = {-1, -1};
};

std::string default_scratch() {
  char here[4096];
  if (::getcwd(here, sizeof here) != nullptr && ::access(here, W_OK) == 0) return here;
  return "/var/tmp";
}

// What checks of env.allow look for; before the plugin can have read the environment.
void set_variables() {
  ::setenv("BULKHEAD_CONTRACT_ALLOWED", "passes", 1);
  ::setenv("BULKHEAD_CONTRACT_PREFIX_ONE", "by prefix", 1);
  ::setenv("BULKHEAD_CONTRACT_SECRET", "stays", 1);
}

Outcome attempt(const Check& check, Backend& backend) {
  Outcome out;
  out.name = check.name;
  Try t(backend);
  const auto begun = std::chrono::steady_clock::now();
  Aside aside;
  std::string early;
  bool skipped = false;
  try {
    check.run(t);
  } catch (const Left& left) {
    skipped = left.why == Left::Why::kSkipped;
    early = left.reason;
  } catch (const std::exception& e) {
    early = std::string("the suite itself: ") + e.what();
  }
  const std::string written = aside.restore();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!written.empty())
    backend.observed.written.push_back(check.name + ": " + to_utf8(written.substr(0, 200)));
  for (const auto& one : backend.misuse())
    backend.observed.misuse.push_back(check.name + ": " + one);
  std::vector<std::string> failures = t.failures();
  if (!early.empty() && !skipped) failures.push_back(early);
  if (!failures.empty()) {
    out.verdict = Verdict::kFailed;
    out.note = join(failures);
  } else {
    out.verdict = skipped ? Verdict::kSkipped : Verdict::kPassed;
    out.note = skipped ? early : t.noted();
  }
  return out;
}

}  // namespace

std::vector<Listed> list() {
  std::vector<Listed> out;
  const Suite suite = all_checks();
  for (const Check& check : suite.checks()) out.push_back({check.name, check.about});
  return out;
}

Result<Summary> run(const Options& options, const std::function<void(const Outcome&)>& each) {
  set_variables();
  const std::vector<std::string> before = process_state(), inherited = descriptors();
  // Neither goes before the process does: a call that never returns still has them.
  static Host& host = *new Host();
  auto loaded = load(options.plugin, options.provider, host);
  if (!loaded) return std::move(loaded).failure();
  auto& plugin = *new Plugin(std::move(*loaded));
  if (::access(options.probe.c_str(), X_OK) != 0) {
    return failure(BH_FAILED_PRECONDITION,
                   "the program bulkhead-contract-probe is not at \"" + options.probe + "\"",
                   "no_helper", "probe", "name it");
  }
  std::unique_ptr<Backend> backend;
  try {
    backend = std::make_unique<Backend>(
        plugin, host, options.config, options.scratch.empty() ? default_scratch() : options.scratch,
        options.probe);
  } catch (const std::exception& e) {
    return failure(BH_FAILED_PRECONDITION, e.what(), "scratch", "scratch",
                   "name a folder that can be written");
  }
  backend->observed.before = before;
  backend->observed.inherited = inherited;
  for (const Answer& answer : {backend->probe_here(), backend->open()}) {
    if (answer.ok()) continue;
    return failure(answer.returned ? answer.status : BH_INTERNAL,
                   "the provider cannot work here: " + answer.text(), "unavailable", {},
                   "do what it says");
  }
  Summary summary;
  const Suite suite = all_checks();
  for (const Check& check : suite.checks()) {
    if (!wanted(check.name, options.only)) continue;
    if (options.starts) options.starts(check.name);
    const Outcome outcome = attempt(check, *backend);
    summary.passed += outcome.verdict == Verdict::kPassed;
    summary.failed += outcome.verdict == Verdict::kFailed;
    summary.skipped += outcome.verdict == Verdict::kSkipped;
    each(outcome);
  }
  if (backend->abandoned()) {
    std::error_code ignored;
    std::filesystem::remove_all(backend->scratch(), ignored);
    (void)backend.release();
  }
  return summary;
}

}  // namespace bulkhead::sdk::contract
