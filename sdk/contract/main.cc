// bulkhead-contract: the suite as a program, for the CI of whoever writes an isolation backend.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "bulkhead/sdk/contract.hpp"

namespace {

namespace contract = bulkhead::sdk::contract;

constexpr char kUsage[] = R"(bulkhead-contract [options] PLUGIN [PROVIDER]

PLUGIN is an isolation plugin's library, or the folder with its plugin.json. PROVIDER may be left out
where there is one.

  --config JSON     the operator's configuration of the provider
  --only PATTERN    checks by name, part ("exec") or pattern ("limits.*"); may come more than once
  --scratch FOLDER  where folders are made for the time of the run (default: the current folder)
  --probe FILE      bulkhead-contract-probe, where it is not in its place
  --json            one JSON object per check and one at the end
  --list            what would be checked

It ends with "N passed, N failed, N skipped" and exits with 0 when nothing failed and something
passed, with 1 when something failed, and with 2 when nothing could be tried.
)";

// For the handler of crashes: the real stdout, which check runs, and what came before it.
int g_out = -1;
bool g_json = false;
char g_running[128] = "";
contract::Summary g_so_far;

void say(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(g_out, text.data() + at, text.size() - at);
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

std::string closing(const contract::Summary& s) {
  char line[160];
  std::snprintf(
      line, sizeof line,
      g_json ? R"({"passed":%d,"failed":%d,"skipped":%d})" : "%d passed, %d failed, %d skipped",
      s.passed, s.failed, s.skipped);
  return line;
}

// Nothing may be trusted any more, this process's heap least of all.
void crashed(int number) {
  char line[320];
  const int n = std::snprintf(line, sizeof line,
                              g_json ? "{\"name\":\"%s\",\"verdict\":\"failed\",\"note\":"
                                       "\"the plugin crashed with signal %d\"}\n"
                                     : "failed  %s: the plugin crashed with signal %d\n",
                              g_running, number);
  if (n > 0) (void)!::write(g_out, line, static_cast<size_t>(n));
  char end[160];
  const int m = std::snprintf(end, sizeof end,
                              g_json ? "{\"passed\":%d,\"failed\":%d,\"skipped\":%d}\n"
                                     : "%d passed, %d failed, %d skipped\n",
                              g_so_far.passed, g_so_far.failed + 1, g_so_far.skipped);
  if (m > 0) (void)!::write(g_out, end, static_cast<size_t>(m));
  ::_exit(1);
}

void print(const contract::Outcome& o) {
  const char* word = o.verdict == contract::Verdict::kPassed   ? "passed"
                     : o.verdict == contract::Verdict::kFailed ? "failed"
                                                               : "skipped";
  if (g_json) {
    bulkhead::sdk::JsonObject line;
    line.text("name", o.name).text("verdict", word).text("note", o.note);
    line.number("milliseconds", static_cast<int64_t>(o.seconds * 1000));
    say(line.str());
    return;
  }
  std::string line = word + std::string(8 - std::strlen(word), ' ') + o.name;
  if (!o.note.empty()) {
    line += o.verdict == contract::Verdict::kPassed ? " (" + o.note + ")" : ": " + o.note;
  }
  say(line);
}

// Beside this program, or where it was installed.
std::string find_probe() {
  std::error_code ec;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
  const std::string name = "bulkhead-contract-probe";
  for (const auto& place : {here / name, here / BULKHEAD_PROBE_DIR / name}) {
    if (::access(place.c_str(), X_OK) == 0) return std::filesystem::canonical(place, ec).string();
  }
  return name;
}

int usage(const std::string& what) {
  std::fprintf(stderr, "bulkhead-contract: %s\n\n%s", what.c_str(), kUsage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  contract::Options options;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    std::string* takes = arg == "--config"    ? &options.config
                         : arg == "--scratch" ? &options.scratch
                         : arg == "--probe"   ? &options.probe
                                              : nullptr;
    if (arg == "--help") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (takes != nullptr || arg == "--only") {
      if (++i == argc) return usage(arg + " needs a value");
      if (takes != nullptr) *takes = argv[i];
      if (takes == nullptr) options.only.emplace_back(argv[i]);
    } else if (arg == "--json") {
      g_json = true;
    } else if (arg == "--list") {
      list = true;
    } else if (arg.rfind("--", 0) == 0) {
      return usage("there is no option " + arg);
    } else if (options.plugin.empty()) {
      options.plugin = arg;
    } else if (options.provider.empty()) {
      options.provider = arg;
    } else {
      return usage("too much: " + arg);
    }
  }
  if (list) {
    for (const auto& one : contract::list())
      std::printf("%s: %s\n", one.name.c_str(), one.about.c_str());
    return 0;
  }
  if (options.plugin.empty()) return usage("which plugin?");
  if (options.probe.empty()) options.probe = find_probe();
  g_out = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, &crashed);
  options.starts = [](const std::string& name) {
    std::snprintf(g_running, sizeof g_running, "%s", name.c_str());
  };
  auto done = contract::run(options, [](const contract::Outcome& o) {
    g_so_far.passed += o.verdict == contract::Verdict::kPassed;
    g_so_far.failed += o.verdict == contract::Verdict::kFailed;
    g_so_far.skipped += o.verdict == contract::Verdict::kSkipped;
    print(o);
  });
  if (!done) {
    std::fprintf(stderr, "bulkhead-contract: %s\n", done.failure().message().c_str());
    ::_exit(2);
  }
  say(closing(*done));
  // Not exit(): a backend that never returned still has its thread.
  ::_exit(done->failed != 0 ? 1 : done->passed != 0 ? 0 : 2);
}
