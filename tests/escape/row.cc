#include "row.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

namespace bh_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Why no sandbox of that backend starts here; empty: one does.
const std::string& unavailable(const std::string& backend) {
  static std::map<std::string, std::string> known;
  const auto it = known.find(backend);
  if (it != known.end()) return it->second;
  std::string why = "not built";
  if (is_built(backend)) why = Backend(backend).unavailable();
  return known[backend] = why;
}

std::string reason_of(const std::string& report, const std::string& name) {
  return rule_status(report, name) + ": " + rule_reason(report, name);
}

std::string joined(const Names& names, const char* between) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : between) + name;
  return out;
}

}  // namespace

bool Row::as_root() const { return ::geteuid() == 0; }

void Row::judge(bool worked, const std::string& word, const std::vector<std::string>& rules,
                const std::string& report) {
  if (!worked) {
    is(word);
    return;
  }
  for (const auto& name : rules) {
    const std::string status = rule_status(report, name);
    if (status != "partial" && status != "unsupported") continue;
    is("not enforced (told)");
    // Without the paths of this run.
    const std::string kind = name.substr(0, name.find(':'));
    note(kind + " is " + reason_of(report, name));
    return;
  }
  CAPTURE(report, joined(Names(rules.begin(), rules.end()), ", "));
  FAIL_CHECK("it works inside, and the report does not say so");
}

void Row::attacks(const std::string& word, const std::function<Ways(Cell&)>& prepare,
                  const std::function<void(Cell&)>& after) {
  {
    Cell free("process");
    const Ways ways = prepare(free);
    const Names worked = free.tries(ways);
    for (const Way& way : ways) {
      INFO("without a sandbox: " << way.name << ": " << way.command);
      const bool can = way.works == Way::kAll || (way.works == Way::kRoot && as_root());
      if (can) CHECK(worked.count(way.name) == 1);
    }
  }
  Cell cell(backend_);
  const Ways ways = prepare(cell);
  const bh_status made = cell.make();
  INFO(cell.backend.message);
  REQUIRE(made == BH_OK);
  const Names worked = cell.tries(ways);
  INFO("worked inside: " << joined(worked, ", "));
  judge(!worked.empty(), word, cell.rules_, cell.report);
  if (worked.empty() && after) after(cell);
}

void Row::attack(const std::string& word, const std::function<bool(Cell&)>& works,
                 const std::function<void(Cell&)>& after) {
  {
    Cell free("process");
    INFO("without a sandbox");
    CHECK(works(free));
  }
  Cell cell(backend_);
  const bool worked = works(cell);
  judge(worked, word, cell.rules_, cell.report);
  if (!worked && after) after(cell);
}

const std::map<std::string, std::string>& Row::free_calls() {
  static const std::map<std::string, std::string> calls = Cell("process").probe("calls alone");
  return calls;
}
const std::map<std::string, std::string>& Row::calls() const {
  static std::map<std::string, std::map<std::string, std::string>> known;
  auto& found = known[backend_];
  if (found.empty()) found = Cell(backend_).probe("calls");
  return found;
}

void Row::calls_refused(const std::vector<std::string>& names) {
  const auto& inside = calls();
  const auto& outside = free_calls();
  const std::string eperm = std::to_string(EPERM), enosys = std::to_string(ENOSYS),
                    eacces = std::to_string(EACCES);
  Names by_kernel;
  for (const auto& name : names) {
    const auto seen = inside.find(name), free = outside.find(name);
    CAPTURE(name);
    REQUIRE(seen != inside.end());  // tried, answered, not killed
    REQUIRE(free != outside.end());
    CAPTURE(seen->second, free->second);
    CHECK((seen->second == eperm || seen->second == enosys || seen->second == eacces));
    // The control: another answer than that without the sandbox.
    if (free->second == enosys || free->second == eperm || free->second == eacces) {
      by_kernel.insert(name);
    }
  }
  if (as_root()) CHECK(by_kernel.size() < names.size());
  if (!by_kernel.empty()) {
    no_control("this kernel refuses " + std::string(as_root() ? "all" : "an ordinary user") + " " +
               joined(by_kernel, ", "));
  }
  is("refused");
}

void Row::record() const {
  const char* path = ::getenv("BH_ESCAPE_RECORD");
  if (path == nullptr || *path == 0) return;
  std::ofstream out(path, std::ios::app);
  out << id_ << '\t' << backend_ << '\t' << joined(words_, ", ") << '\t' << joined(notes_, " | ")
      << '\n';
}

std::map<std::string, int>& row_registry() {
  static std::map<std::string, int> rows;
  return rows;
}

void run_row(const char* id, const char* backend, RowBody body) {
  Row row(id, backend);
  const std::string& why = unavailable(backend);
  if (!why.empty()) {
    row.skipped(why);
    say_skipped(__FILE__, __LINE__, why);
  } else {
    body(row);
    CHECK(row.has_verdict());
  }
  row.record();
}

std::string in_child(const std::function<std::string()>& what) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text;
    try {
      text = what();
    } catch (...) {
      text = "threw";
    }
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? out : "ended";
}

namespace {

template <class Found>
void each_with(const std::string& mark, Found found) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name == std::to_string(::getpid())) continue;
    if (read("/proc/" + name + "/cmdline").find(mark) != std::string::npos) found(std::stoi(name));
  }
}

template <class Done>
bool within_five_seconds(Done done) {
  for (int i = 0; i < 200; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(25ms);
  }
  return false;
}

}  // namespace

int processes_with(const std::string& mark) {
  int found = 0;
  each_with(mark, [&](int) { ++found; });
  return found;
}
bool gone(const std::string& mark) {
  return within_five_seconds([&] { return processes_with(mark) == 0; });
}
bool there(const std::string& mark, int wanted) {
  return within_five_seconds([&] { return processes_with(mark) >= wanted; });
}
void kill_all_with(const std::string& mark) {
  // Until none is seen a few times: one may be starting another, which has no command line yet.
  int quiet = 0;
  (void)within_five_seconds([&] {
    each_with(mark, [](int pid) { ::kill(pid, SIGKILL); });
    quiet = processes_with(mark) == 0 ? quiet + 1 : 0;
    return quiet == 5;
  });
}

std::string fresh_mark() {
  static int count = 0;
  return "7" + std::to_string(::getpid()) + std::to_string(++count) + ".5";
}

int open_descriptors() {
  int n = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) (void)entry, ++n;
  return n;
}

}  // namespace bh_test
