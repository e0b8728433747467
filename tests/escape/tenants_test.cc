// ns_and_network §2, rows 1 and 2: what a host that runs as root, or several personas on one host,
// must not give away.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "escape.h"

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

}  // namespace

TEST_CASE("ns 1 the kernel's id 0 is never a sandbox's, also when root starts it") {
  BH_NEEDS_BWRAP;
  Cell cell(R"(,"persona":"a","user":{"uid":0,"gid":0})");
  REQUIRE(cell.make() == BH_OK);
  const std::string status = rule_status(cell.backend.report, "isolation.kernel_uid");
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
  CHECK(cell.sh("id -u").out == "0\n");
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
}

TEST_CASE("ns 1 two personas have two ids") {
  BH_NEEDS_BWRAP;
  if (::geteuid() != 0) BH_SKIP("an ordinary user has one id for all personas");
  Cell a(R"(,"persona":"a")"), b(R"(,"persona":"b")");
  const std::string map = "cat /proc/self/uid_map | tr -s ' '";
  const Ran one = a.sh(map), two = b.sh(map);
  // From inside both say 0: the outer id is not shown. The reports tell.
  CHECK(one.out == two.out);
  const auto value = [](const std::string& report) {
    const size_t at = report.find("isolation.kernel_uid");
    return report.substr(at, report.find('}', at) - at);
  };
  if (rule_status(a.backend.plan("{}"), "isolation.kernel_uid") == "partial") {
    BH_SKIP("files cannot be mounted with other ids here");
  }
  const std::string first = value(a.backend.plan(R"({"persona":"a"})"));
  CHECK(first == value(b.backend.plan(R"({"persona":"a"})")));
  CHECK(first != value(b.backend.plan(R"({"persona":"b"})")));
}

TEST_CASE("ns 1 two personas whose names give the same number have two ids, in every process") {
  BH_NEEDS_BWRAP;
  if (::geteuid() != 0) BH_SKIP("an ordinary user has one id for all personas");
  if (rule_status(Backend("bwrap").plan("{}"), "isolation.kernel_uid") == "partial") {
    BH_SKIP("files cannot be mounted with other ids here");
  }
  const auto value = [](const std::string& report) {
    const size_t at = report.find("isolation.kernel_uid");
    return report.substr(at, report.find('}', at) - at);
  };
  const std::string one = R"({"persona":"persona-798"})", two = R"({"persona":"persona-2082"})";
  // Each alone would get the same id, so they do collide.
  CHECK(value(Backend("bwrap").plan(one)) == value(Backend("bwrap").plan(two)));

  Folder state;
  std::string first, second;
  {
    Backend a("bwrap", state.path());
    REQUIRE(a.create("one", one) == BH_OK);
    first = value(a.report);
    // Only a sandbox takes an id; to plan one does not.
    CHECK(value(a.plan(two)) != first);
  }
  Backend b("bwrap", state.path());
  REQUIRE(b.create("two", two) == BH_OK);
  second = value(b.report);
  CHECK(first != second);
  REQUIRE(b.find("one") == BH_OK);
  CHECK(value(b.report) == first);
  CHECK(b.destroy("one") == BH_OK);
  CHECK(b.destroy("two") == BH_OK);
  // Kept when no sandbox is left: what was decided once holds, in whatever order they come back.
  Backend c("bwrap", state.path());
  CHECK(value(c.plan(two)) == second);
  CHECK(value(c.plan(one)) == first);
}

TEST_CASE("ns 1 many personas at once in many processes: no id twice") {
  BH_NEEDS_BWRAP;
  if (::geteuid() != 0) BH_SKIP("an ordinary user has one id for all personas");
  Folder state;
  // Pairs that collide, claimed by two processes in opposite orders.
  const std::vector<std::string> names = {"persona-798", "persona-2082", "persona-799",
                                          "persona-2083"};
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      Backend backend("bwrap", state.path());
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
}

TEST_CASE("ns 2 a sandbox lists nothing of another persona, of the data folder, or of the config") {
  BH_NEEDS_BWRAP;
  Folder root;
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
  Backend backend("bwrap");
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
    CHECK(rule_status(backend.report, "isolation.hides") == "enforced");
    if (!more.empty()) CHECK(rule_status(backend.report, "files:" + b) == "unsupported");
    const Ran ran = backend.sh("s1", "ls ~; find " + root.path() + " -type f 2>/dev/null; ls -A " +
                                         data + "/personas; cat " + b + "/home/* " + root.path() +
                                         "/config/* " + data + "/state.sqlite; exit 0");
    // Its own folder is there, since the host named it; nothing else is.
    CHECK(ran.out == "secret-a\na\n");
    CHECK(backend.sh("s1", "echo mine > here && cat here && rm here").out == "mine\n");
    CHECK(backend.destroy("s1") == BH_OK);
  }
}

TEST_CASE("ns 2 a workspace around the data folder shows a hole there, which stays") {
  BH_NEEDS_BWRAP;
  Folder root;
  root.write("work/.local/share/data/secret", "secret");
  root.write("work/.local/share/other", "other");
  const std::string data = root.path() + "/work/.local/share/data";
  Backend backend("bwrap");
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
}
