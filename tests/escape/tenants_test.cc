// What a host that runs as root, or several personas on one host, must not give away.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bulkhead/sdk/isolation/personas.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Kernel ids of all processes of this machine whose command line holds `mark`, seen from outside.
std::vector<long> kernel_uids(const std::string& mark) {
  std::vector<long> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read("/proc/" + pid + "/cmdline").find(mark) == std::string::npos) continue;
    std::istringstream lines(read("/proc/" + pid + "/status"));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("Uid:", 0) == 0) out.push_back(std::stol(line.substr(4)));
    }
  }
  return out;
}

// Two personas for whom the search for an id begins at the same one.
std::pair<std::string, std::string> names_that_collide(const std::string& backend) {
  namespace isolation = bulkhead::sdk::isolation;
  const isolation::Personas personas(
      "", backend == "ns" ? isolation::kIdRanges : isolation::kSingleIds);
  std::map<uint32_t, std::string> taken;
  for (int i = 0;; ++i) {
    const std::string name = "persona-" + std::to_string(i);
    const auto [at, fresh] = taken.emplace(personas.first_guess(name), name);
    if (!fresh) return {at->second, name};
  }
}

}  // namespace

BH_ROW("A1", "the kernel's id 0 is never a sandbox's, also when root starts it") {
  // The control: without a sandbox a command has the host's own id, and what that may read.
  Cell free("process");
  CHECK(free.sh("id -u").out == std::to_string(::geteuid()) + "\n");
  CHECK((free.sh("cat /etc/shadow").exit.exit_code == 0) == row.as_root());
  Cell cell(row.backend(), R"(,"persona":"a","user":{"uid":0,"gid":0})");
  REQUIRE(cell.make() == BH_OK);
  const std::string status = rule_status(cell.report, "isolation.kernel_uid");
  if (status == "unsupported") {
    CHECK_FALSE(row.has_mounts());
    row.is("not enforced (told)");
    row.note("isolation.kernel_uid is unsupported: " +
             rule_reason(cell.report, "isolation.kernel_uid"));
    return;
  }
  // Where files cannot be mounted with other ids it is 0, without capabilities, and that is told.
  const bool told = status == "partial" && ::geteuid() == 0;
  CHECK((told || status == "enforced"));
  const std::string mark = "8" + std::to_string(::getpid()) + ".25";
  std::vector<long> seen;
  Command c;
  c.argv = {"sleep", mark};
  c.beside = [&](testing::FakeCall& call) {
    for (int i = 0; i < 200 && seen.empty(); ++i) {
      std::this_thread::sleep_for(25ms);
      seen = kernel_uids("sleep" + std::string(1, '\0') + mark);
    }
    call.stop();
  };
  (void)cell.backend.run("s1", c);
  REQUIRE_FALSE(seen.empty());
  for (const long uid : seen) {
    if (!told) CHECK(uid != 0);
    if (!told && ::geteuid() == 0) CHECK(uid >= 0x70000000);
    if (::geteuid() != 0) CHECK(uid == static_cast<long>(::geteuid()));
  }
  // Inside it may well be called root; that gives nothing.
  if (rule_status(cell.report, "user.uid") == "enforced") CHECK(cell.sh("id -u").out == "0\n");
  CHECK(cell.probe("write /proc/sys/kernel/core_pattern")["write"] != "ok");
  CHECK(cell.probe("write /proc/sysrq-trigger")["write"] != "ok");
  CHECK(cell.sh("cat /etc/shadow; exit 0").out.empty());
  // What it writes belongs to the owner of the workspace, not to that id.
  CHECK(cell.sh("echo x > made").exit.exit_code == 0);
  struct stat made {
  }, work{};
  REQUIRE(::stat((cell.work + "/made").c_str(), &made) == 0);
  REQUIRE(::stat(cell.work.c_str(), &work) == 0);
  CHECK(made.st_uid == work.st_uid);
  row.is(told ? "not enforced (told)" : "refused");
}

BH_ROW("A1", "two personas have two ids") {
  if (!row.as_root()) BH_ROW_SKIP("an ordinary user has one id for all personas");
  if (!row.has_mounts()) return row.not_applicable("no ids of its own");
  Cell a(row.backend(), R"(,"persona":"a")"), b(row.backend(), R"(,"persona":"b")");
  CHECK(a.sh("id -u").out == b.sh("id -u").out);  // inside they are told apart by nothing
  const auto value = [](const std::string& report) {
    const size_t at = report.find("isolation.kernel_uid");
    return report.substr(at, report.find('}', at) - at);
  };
  if (rule_status(a.backend.plan("{}"), "isolation.kernel_uid") == "partial") {
    BH_ROW_SKIP("files cannot be mounted with other ids here");
  }
  const std::string first = value(a.backend.plan(R"({"persona":"a"})"));
  CHECK(first == value(b.backend.plan(R"({"persona":"a"})")));
  CHECK(first != value(b.backend.plan(R"({"persona":"b"})")));
  row.is("refused");
}

BH_ROW("A1", "two personas whose names give the same number have two ids, in every process") {
  if (!row.as_root()) BH_ROW_SKIP("an ordinary user has one id for all personas");
  if (!row.has_mounts()) return row.not_applicable("no ids of its own");
  if (rule_status(Backend(row.backend()).plan("{}"), "isolation.kernel_uid") == "partial") {
    BH_ROW_SKIP("files cannot be mounted with other ids here");
  }
  const auto value = [](const std::string& report) {
    const size_t at = report.find("isolation.kernel_uid");
    return report.substr(at, report.find('}', at) - at);
  };
  const auto names = names_that_collide(row.backend());
  const std::string one = R"({"persona":")" + names.first + "\"}";
  const std::string two = R"({"persona":")" + names.second + "\"}";
  // Each alone would get the same id, so they do collide.
  CHECK(value(Backend(row.backend()).plan(one)) == value(Backend(row.backend()).plan(two)));

  Folder state;
  std::string first, second;
  {
    Backend a(row.backend(), state.path());
    REQUIRE(a.create("one", one) == BH_OK);
    first = value(a.report);
    // Only a sandbox takes an id; to plan one does not.
    CHECK(value(a.plan(two)) != first);
  }
  Backend b(row.backend(), state.path());
  REQUIRE(b.create("two", two) == BH_OK);
  second = value(b.report);
  CHECK(first != second);
  REQUIRE(b.find("one") == BH_OK);
  CHECK(value(b.report) == first);
  CHECK(b.destroy("one") == BH_OK);
  CHECK(b.destroy("two") == BH_OK);
  // Kept when no sandbox is left: what was decided once holds, in whatever order they come back.
  Backend c(row.backend(), state.path());
  CHECK(value(c.plan(two)) == second);
  CHECK(value(c.plan(one)) == first);
  row.is("refused");
}

BH_ROW("A1", "many personas at once in many processes: no id twice") {
  if (!row.as_root()) BH_ROW_SKIP("an ordinary user has one id for all personas");
  if (!row.has_mounts()) return row.not_applicable("no ids of its own");
  Folder state;
  // Pairs that collide, claimed by two processes in opposite orders.
  const auto pair = names_that_collide(row.backend());
  const std::vector<std::string> names = {pair.first, pair.second, "persona-x", "persona-y"};
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      Backend backend(row.backend(), state.path());
      bool fine = true;
      for (size_t i = 0; i < names.size(); ++i) {
        const std::string& name = names[child % 2 == 0 ? i : names.size() - 1 - i];
        const std::string id = std::to_string(child) + "-" + std::to_string(i);
        fine = backend.create(id, R"({"persona":)" + quote(name) + "}") == BH_OK && fine;
        fine = backend.destroy(id) == BH_OK && fine;
      }
      ::_exit(fine ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  std::map<std::string, int> taken;
  for (const auto& entry : fs::directory_iterator(state.path() + "/.ids")) {
    ++taken[read(entry.path())];
  }
  CHECK(taken.size() == names.size());
  for (const std::string& name : names) CHECK(taken[name] == 1);
  row.is("refused");
}

BH_ROW("A2", "a sandbox lists nothing of another persona, of the data folder, or of the config") {
  OpenFolder root;
  ::chmod(root.path().c_str(), 0755);
  const std::string data = root.make("data");
  auto persona = [&](const std::string& name) {
    root.write("data/personas/" + name + "/home/secret-" + name, name);
    root.make("data/personas/" + name + "/tmp");
    root.make("data/personas/" + name + "/workspace");
    return data + "/personas/" + name;
  };
  const std::string a = persona("a"), b = persona("b");
  root.write("data/state.sqlite", "secret");
  root.write("config/config.json", "secret");
  // Modes that would let anybody look: the hides alone must hold.
  for (const auto& entry : fs::recursive_directory_iterator(root.path())) {
    fs::permissions(entry.path(), fs::perms::all);
  }
  {
    // The control: nothing but the sandbox stands in between.
    Cell free("process");
    CHECK(free.sh("cat " + b + "/home/* " + root.path() + "/config/* " + data + "/state.sqlite")
              .out == "bsecretsecret");
  }
  Backend backend(row.backend());
  auto profile = [&](const std::string& mine, const std::string& more) {
    return R"({"persona":"a","workspace":{"source":)" + quote(mine + "/workspace") +
           R"(},"home":{"source":)" + quote(mine + "/home") + R"(},"tmp":{"source":)" +
           quote(mine + "/tmp") + R"(},"hide":[)" + quote(data) + "," +
           quote(root.path() + "/config") + "]" + more + "}";
  };
  // Rules that ask for it all the same change nothing.
  const std::string asks = R"(,"files":[{"path":)" + quote(data) + R"(,"access":"rw"},{"path":)" +
                           quote(b) + R"(,"access":"ro"},{"path":)" +
                           quote(root.path() + "/config/config.json") + R"(,"access":"ro"}])";
  for (const std::string& more : {std::string(), asks}) {
    REQUIRE(backend.create("s1", profile(a, more)) == BH_OK);
    if (row.has_mounts()) CHECK(rule_status(backend.report, "isolation.hides") == "enforced");
    if (!more.empty()) CHECK(rule_status(backend.report, "files:" + b) == "unsupported");
    const Ran ran = backend.sh("s1", "cat " + b + "/home/* " + root.path() + "/config/* " + data +
                                         "/state.sqlite; exit 0");
    CHECK(ran.out.empty());
    const Ran list = backend.sh("s1", "ls ~; find " + root.path() + " -type f 2>/dev/null; ls -A " +
                                          data + "/personas; exit 0");
    // Its own folder is there, since the host named it; nothing else is. Without mounts there is
    // but the one view of it, and nothing between.
    if (row.has_mounts()) CHECK(list.out == "secret-a\na\n");
    CHECK(list.out.find("secret-b") == std::string::npos);
    CHECK(list.out.find("state.sqlite") == std::string::npos);
    CHECK(backend.sh("s1", "echo mine > here && cat here && rm here").out == "mine\n");
    CHECK(backend.destroy("s1") == BH_OK);
  }
  row.is("hidden");
}

BH_ROW("A2", "a workspace around the data folder shows a hole there, which stays") {
  OpenFolder root;
  if (!row.has_mounts()) return row.not_applicable("no mounts, so no hole in one");
  root.write("work/.local/share/data/secret", "secret");
  root.write("work/.local/share/other", "other");
  const std::string data = root.path() + "/work/.local/share/data";
  Backend backend(row.backend());
  REQUIRE(backend.create("s1", R"({"workspace":{"source":)" + quote(root.path() + "/work") +
                                   R"(},"hide":[)" + quote(data) + R"(],"files":[{"path":)" +
                                   quote(data) + R"(,"access":"rw"}]})") == BH_OK);
  const Ran ran = backend.sh(
      "s1",
      "cat .local/share/other; echo; find . -name secret; mv .local gone; mv .local/share gone; "
      "rmdir .local/share/data; touch .local/share/data/x; ls -A .local/share; find . -name "
      "secret; "
      "exit 0");
  // mv falls back to a copy of what can be seen; the hole goes with nothing in it.
  CHECK(ran.out == "other\ndata\n");
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(read(data + "/secret") == "secret");
  row.is("hidden");
}
