// What a command in a sandbox costs, by backend, against posix_spawn of the same program in turn; what
// goes through at once; what a thousand idle sandboxes hold. Prints one JSON object.
//
//   bench_sandboxes [BACKEND...]          default: all that work here
//   bench_sandboxes --warm COUNT BACKEND   that many commands in one sandbox and no more: for a profiler
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/sandboxes.h"

extern char** environ;

namespace {

using namespace bh_test;
using Clock = std::chrono::steady_clock;
namespace sdk = bulkhead::sdk;

constexpr int kRounds = 60;
constexpr char kProgram[] = "/bin/true";

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}
[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_sandboxes: %s\n", why.c_str());
  std::exit(1);
}

double spawn_once() {
  char* argv[] = {const_cast<char*>(kProgram), nullptr};
  pid_t pid = 0;
  int status = 0;
  const auto from = Clock::now();
  if (::posix_spawn(&pid, kProgram, nullptr, nullptr, argv, environ) != 0) give_up("posix_spawn");
  ::waitpid(pid, &status, 0);
  return milliseconds(from);
}

class Cell {
 public:
  Cell(const std::string& provider, const std::string& more) : backend(provider), more_(more) {
    work_ = folder_.make("work");
  }
  void make(const std::string& id) {
    const std::string profile = R"({"workspace":{"source":)" + quote(work_) + "}" + more_ + "}";
    if (backend.create(id, profile) != BH_OK) give_up(backend.message);
  }
  // May run beside others on the same sandbox.
  double run(const std::string& id) {
    testing::FakeCall call(backend.host());
    const std::string exec = "b" + std::to_string(++count_);
    const bh_str argv[] = {sdk::str(kProgram)};
    bh_exec what{};
    what.struct_size = sizeof what;
    what.id = sdk::str(exec);
    what.argv = argv;
    what.argc = 1;
    what.options = sdk::str("{}");
    bh_exit exit{};
    exit.struct_size = sizeof exit;
    void* handle = backend.handle(id);
    const auto from = Clock::now();
    const bh_status st = backend.table().exec(handle, call.raw(), &what, &exit);
    const double spent = milliseconds(from);
    if (st != BH_OK || exit.exit_code != 0) give_up("a command failed: " + call.recorded().message);
    return spent;
  }
  double end(const std::string& id) {
    const auto from = Clock::now();
    if (backend.destroy(id) != BH_OK) give_up(backend.message);
    const double spent = milliseconds(from);
    backend.release(id);
    return spent;
  }

  Backend backend;

 private:
  Folder folder_;
  std::string work_, more_;
  std::atomic<int> count_{0};
};

// So that what is made in the background has been made, and the machine is at rest again.
void rest(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::map<std::string, double> costs(const std::string& provider, const std::string& more) {
  std::vector<double> spawn, cold, first, warm, joined, end;
  Cell cell(provider, more);
  cell.make("w");
  for (int i = 0; i < 4; ++i) cell.run("w");
  for (int i = 0; i < kRounds; ++i) {
    rest(8);
    spawn.push_back(spawn_once());
    rest(8);
    warm.push_back(cell.run("w"));
    const std::string id = "c" + std::to_string(i);
    rest(8);
    const auto from = Clock::now();
    cell.make(id);
    cell.run(id);
    cold.push_back(milliseconds(from));
    // The second command of a sandbox finds nothing made ahead, and no network to make.
    rest(4);
    joined.push_back(cell.run(id));
    end.push_back(cell.end(id));
  }
  cell.end("w");
  const double base = median(spawn);
  return {{"spawn_ms", base},
          {"cold_ms", median(cold)},
          {"cold_per_spawn", median(cold) / base},
          {"joined_ms", median(joined)},
          {"joined_per_spawn", median(joined) / base},
          {"warm_ms", median(warm)},
          {"warm_per_spawn", median(warm) / base},
          {"destroy_ms", median(end)}};
}

double per_second(const std::string& provider, const std::string& more, int at_once) {
  Cell cell(provider, more);
  cell.make("w");
  for (int i = 0; i < 3; ++i) cell.run("w");
  const int each = std::max(2, 192 / at_once);
  std::vector<std::thread> threads;
  const auto from = Clock::now();
  for (int t = 0; t < at_once; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i) cell.run("w");
    });
  }
  for (auto& thread : threads) thread.join();
  const double spent = milliseconds(from) / 1000;
  cell.end("w");
  return at_once * each / spent;
}

long available_kib() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::atol(line.c_str() + 13);
  }
  return 0;
}

// A thousand, each used once, after their networks have been given up again.
std::map<std::string, double> idle(const std::string& provider, int count) {
  Cell cell(provider, "");
  cell.make("w");
  cell.run("w");
  rest(1000);
  const long before = available_kib();
  auto from = Clock::now();
  for (int i = 0; i < count; ++i) cell.make("i" + std::to_string(i));
  const double made = milliseconds(from) / count;
  for (int i = 0; i < count; ++i) cell.run("i" + std::to_string(i));
  rest(14000);
  const long after = available_kib();
  std::vector<double> among;
  for (int i = 0; i < 50; ++i) among.push_back(cell.run("i" + std::to_string(i * (count / 50))));
  from = Clock::now();
  const size_t listed = cell.backend.list().size();
  const double list = milliseconds(from);
  if (listed < static_cast<size_t>(count)) give_up("not all sandboxes are listed");
  from = Clock::now();
  for (int i = 0; i < count; ++i) cell.end("i" + std::to_string(i));
  const double ended = milliseconds(from) / count;
  cell.end("w");
  return {{"idle_count", count},
          {"idle_kib_each", static_cast<double>(before - after) / count},
          {"idle_create_ms", made},
          {"idle_command_ms", median(among)},
          {"idle_list_ms", list},
          {"idle_destroy_ms", ended}};
}

void print(const std::map<std::string, double>& all, const char* indent) {
  const char* comma = "";
  for (const auto& [key, value] : all) {
    std::printf("%s\n%s\"%s\": %.3f", comma, indent, key.c_str(), value);
    comma = ",";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--warm") {
    Cell cell(argv[3], "");
    cell.make("w");
    for (int i = std::atoi(argv[2]); i > 0; --i) cell.run("w");
    cell.end("w");
    return 0;
  }
  std::vector<std::string> wanted(argv + 1, argv + argc);
  if (wanted.empty()) wanted = {"ns", "bwrap", "landlock", "process"};
  std::printf("{");
  const char* comma = "";
  for (const auto& provider : wanted) {
    std::printf("%s\n  \"%s\": {", comma, provider.c_str());
    comma = ",";
    if (const std::string why = Backend(provider).unavailable(); !why.empty()) {
      std::printf("\"left_out\": %s}", quote(why).c_str());
      continue;
    }
    auto all = costs(provider, "");
    for (const int at_once : {1, 2, 8, 64}) {
      all["per_second_" + std::to_string(at_once)] = per_second(provider, "", at_once);
    }
    if (provider == "ns") {
      for (const auto& [key, value] : costs(provider, R"(,"processes":"sandbox")")) {
        if (key == "warm_ms" || key == "warm_per_spawn") all["shared_" + key] = value;
      }
      for (const auto& [key, value] : idle(provider, 1000)) all[key] = value;
    }
    print(all, "    ");
    std::printf("}");
    std::fflush(stdout);
  }
  std::printf("\n}\n");
}
