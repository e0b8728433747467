// Who a command is, what it inherits, and which processes it can touch.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <sstream>
#include <thread>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Whether a file of /proc says anything at all.
bool tells(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char c = 0;
  const bool some = fd >= 0 && ::read(fd, &c, 1) == 1;
  ::close(fd);
  return some;
}

}  // namespace

BH_ROW("P11", "descriptors that the host left open do not pass") {
  const int secret = ::open("/etc/hostname", O_RDONLY);
  REQUIRE(::dup2(secret, 77) == 77);
  // The control: what a program starts in the plain way has them.
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", "test -e /proc/self/fd/77", nullptr);
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  for (const std::string& provider : {row.backend(), std::string("process")}) {
    CAPTURE(provider);
    Cell cell(provider);
    CHECK(cell.sh("./probe holds 77; ./probe holds 1").out ==
          "holds " + std::to_string(EBADF) + "\nholds ok\n");
    if (row.has_mounts()) CHECK(cell.sh("ls /proc/self/fd").out == "0\n1\n2\n3\n");
    // Nor do processes above the command hold any that it could reach.
    if (provider == "process") continue;
    CHECK(cell.sh("readlink /proc/1/fd/77 /proc/$PPID/fd/77; exit 0").out.empty());
  }
  ::close(77);
  ::close(secret);
  row.is("refused");
}

BH_ROW("P12", "the host's environment and processes are not there") {
  ::setenv("BH_ESCAPE_SECRET", "secret", 1);
  const std::string host = std::to_string(::getpid());
  {
    int ends[2];  // the control: a program that is started in the plain way has it
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], 1);
      ::execl("/bin/sh", "sh", "-c", "echo $BH_ESCAPE_SECRET", nullptr);
      ::_exit(127);
    }
    char text[16] = {};
    CHECK(::read(ends[0], text, sizeof text) == 7);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  row.attacks("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.pid"});
    return Ways{{"host's folder in /proc",
                 "test \"$(tr '\\0' '\\n' < /proc/" + host + "/cmdline | head -1)\" != ''"},
                {"host's words", "grep -q escape_test /proc/" + host + "/comm"}};
  });
  Cell cell(row.backend());
  const Ran ran =
      cell.sh("env; cat /proc/self/environ /proc/1/environ /proc/[0-9]*/environ; exit 0");
  CHECK(ran.out.find("BH_ESCAPE_SECRET") == std::string::npos);
  CHECK(ran.out.find("PATH=") != std::string::npos);
  ::unsetenv("BH_ESCAPE_SECRET");
}

BH_ROW("P12", "no mount shows the host's processes") {
  if (!row.has_mounts()) return row.not_applicable("no mounts");
  {
    Cell cell(row.backend(), R"(,"mounts":[{"source":"/proc","path":"/mnt"}])");
    CHECK(cell.make() == BH_PERMISSION_DENIED);
  }
  Cell whole(row.backend(), R"(,"mounts":[{"source":"/","path":"/mnt"}])");
  CHECK(whole.sh("ls -d /mnt/usr").out == "/mnt/usr\n");
  CHECK(whole.sh("ls /mnt/proc; exit 0").out.empty());
  row.is("hidden");
}

BH_ROW("P13", "neither the host's processes nor another sandbox's can be touched") {
  // A process of our own, of the host's user, that nothing depends on.
  const std::string mark = fresh_mark();
  const pid_t victim = ::fork();
  if (victim == 0) {
    ::execl("/bin/sleep", "sleep", mark.c_str(), nullptr);
    ::_exit(127);
  }
  REQUIRE(there(mark));
  row.attack("refused", [&](Cell& c) {
    c.spoken_of_by({"isolation.pid", "isolation.signals"});
    const auto touched = c.probe("touch " + std::to_string(victim));
    REQUIRE(touched.size() > 5);
    size_t worked = 0;
    for (const auto& [name, result] : touched) {
      if (result != "ok") continue;
      ++worked;
      if (!c.free()) row.note("touched by " + name);
    }
    return worked > 0;
  });
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);

  Cell other(row.backend(), R"(,"persona":"b")", "s2"), cell(row.backend(), R"(,"persona":"a")");
  REQUIRE(other.make() == BH_OK);
  REQUIRE(cell.make() == BH_OK);
  const std::string theirs = fresh_mark();
  Command c;
  c.argv = {"sleep", theirs};
  bool worked = false, alive = false;
  c.beside = [&](testing::FakeCall& call) {
    if (there(theirs)) {
      int pid = 0;
      for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            read("/proc/" + name + "/cmdline").find(theirs) != std::string::npos) {
          pid = std::stoi(name);
        }
      }
      for (const auto& [name, result] : cell.probe("touch " + std::to_string(pid))) {
        worked = worked || result == "ok";
      }
      // All that it can name. Only where its processes are its own: elsewhere it would be the
      // machine's.
      if (row.has_mounts()) (void)cell.sh("kill -9 -1");
      alive = processes_with(theirs) > 0;
    }
    call.stop();
  };
  (void)other.backend.run("s2", c);
  CHECK(alive);
  row.judge(worked, "refused", {"isolation.pid", "isolation.signals"}, cell.report);
}

BH_ROW("P14", "there is no terminal of the host") {
  const std::string backend = row.backend();
  // As started from a terminal: a process group leader with one that is its own.
  const std::string seen = in_child([&]() -> std::string {
    ::setsid();
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) return "no terminal";
    const int slave = ::open(::ptsname(master), O_RDWR | O_CLOEXEC);
    if (slave < 0) return "no terminal";
    (void)::ioctl(slave, TIOCSCTTY, 0);
    std::string out;
    for (const std::string& provider : {std::string("plain"), backend}) {
      if (provider == "plain") {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return "pipe";
        const pid_t child = ::fork();
        if (child == 0) {
          ::dup2(ends[1], 1);
          ::execl(BH_PROBE, "probe", "terminal", nullptr);
          ::_exit(127);
        }
        char text[256] = {};
        ::waitpid(child, nullptr, 0);
        (void)!::read(ends[0], text, sizeof text - 1);
        out += text;
      } else {
        Cell cell(provider);
        out += "; " + cell.sh("./probe terminal").out;
      }
    }
    return out;
  });
  CAPTURE(seen);
  if (seen == "no terminal") BH_ROW_SKIP("no terminal can be had here");
  const std::string inside = seen.substr(std::min(seen.size(), seen.find(';') + 1));
  CHECK(seen.rfind("open ok\n", 0) == 0);
  if (seen.find("type ok") >= seen.find(';')) row.no_control("this kernel lets nobody type");
  CHECK(inside.find("open ok") == std::string::npos);
  CHECK(inside.find("open ") != std::string::npos);
  CHECK(inside.find("type ok") == std::string::npos);
  row.calls_refused({"tiocsti", "tiocsti_high", "tioclinux"});
}

BH_ROW("P15", "nothing made inside runs on the host as its owner or group") {
  Cell cell(row.backend());
  auto tried = cell.probe("set_ids");
  CHECK(tried["plain_open"] == "ok");
  CHECK(tried["plain_chmod"] == "ok");
  CHECK(tried.size() > 15);
  const auto free = Cell("process").probe("set_ids");
  for (const auto& [name, result] : tried) {
    CAPTURE(name, result);
    if (name.rfind("plain_", 0) == 0) continue;
    CHECK(result != "ok");
    CHECK(free.at(name) == "ok");
  }
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cell.work)) {
    struct stat st {};
    REQUIRE(::lstat(entry.path().c_str(), &st) == 0);
    CAPTURE(entry.path().string());
    CHECK((st.st_mode & (S_ISUID | S_ISGID)) == 0);
    ++files;
  }
  CHECK(files > 5);
  row.is("refused");
}

BH_ROW("P15", "a program with the bit of its owner runs as whoever started it") {
  auto inside = row.calls();
  auto free = Row::free_calls();
  CHECK(free["new_privileges"] == "ok");
  CHECK(inside["new_privileges"] != "ok");
  row.is("refused");
  if (!row.as_root()) return row.no_control("an ordinary user makes no file of root's");
  // Outside an ordinary user becomes root with it; inside nobody does.
  OpenFolder folder;
  const std::string copy = folder.path() + "/as-root";
  fs::copy_file(BH_PROBE, copy);
  ::chmod(copy.c_str(), 04755);
  const std::string control = in_child([&]() -> std::string {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0 || ::setresuid(65530, 65530, 65530) != 0) return "setresuid";
    if (::fork() == 0) {
      ::dup2(ends[1], 1);
      ::execl(copy.c_str(), "probe", "who", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char text[16] = {};
    (void)!::read(ends[0], text, sizeof text - 1);
    return text;
  });
  CHECK(control == "who 0\n");
  Cell cell(row.backend(), R"(,"user":{"uid":1234,"gid":1234})");
  const std::string who = cell.sh(copy + " who").out;
  row.judge(who == "who 0\n", "refused", {"user.uid"}, cell.report);
}

BH_ROW("A11", "no capability, and none to be had") {
  const auto free = Cell("process").probe("rights");
  CHECK(free.at("bounding") != "0");
  CHECK(free.at("no_new_privileges") == "0");
  if (row.as_root()) CHECK(free.at("effective") != "0");
  for (const char* more : {"", R"(,"user":{"uid":0,"gid":0})"}) {
    CAPTURE(more);
    Cell cell(row.backend(), more);
    const auto rights = cell.probe("rights");
    const std::vector<std::string> rules = {"isolation.capabilities"};
    for (const char* set : {"effective", "permitted", "inheritable", "ambient"}) {
      CAPTURE(set);
      row.judge(rights.at(set) != "0", "refused", rules, cell.report);
    }
    CHECK(rights.at("no_new_privileges") == "1");
    CHECK(rights.at("filter") == "2");
    // What bounds those of later programs matters only to whoever can start one with some.
    if (row.has_mounts()) CHECK(rights.at("bounding") == "0");
    CHECK(cell.sh("chown 1 probe").exit.exit_code != 0);
    CHECK(cell.probe("sockets").at("raw") != "ok");
  }
}

BH_ROW("A18", "the helper that starts commands cannot be read, changed or attached to") {
  ::setenv("BH_ESCAPE_SECRET", "secret", 1);
  // A process of the same user is open to its like; the helpers are not.
  const std::string mark = fresh_mark();
  const pid_t like = ::fork();
  if (like == 0) {
    ::execl("/bin/sleep", "sleep", mark.c_str(), nullptr);
    ::_exit(127);
  }
  REQUIRE(there(mark));
  const auto open_to_its_like = Cell("process").probe("touch " + std::to_string(like));
  CHECK(open_to_its_like.at("memory") == "ok");
  CHECK(open_to_its_like.at("attach") == "ok");
  ::kill(like, SIGKILL);
  ::waitpid(like, nullptr, 0);
  Cell cell(row.backend());
  bool worked = false;
  for (const char* which : {"1", "$PPID"}) {
    const Ran ran = cell.sh(std::string("./probe touch ") + which + " | grep ok");
    std::istringstream lines(ran.out);
    for (std::string name, result; lines >> name >> result;) {
      // To ask whether it is there, and where it may run, harms nobody.
      if (name == "signal" || name == "affinity") continue;
      CAPTURE(which, name);
      worked = true;
      row.note("of pid " + std::string(which) + ": " + name);
    }
    CHECK(cell.sh(std::string("for f in /proc/") + which +
                  "/fd/*; do readlink $f; done; cat /proc/" + which + "/environ; exit 0")
              .out.find("secret") == std::string::npos);
  }
  row.judge(worked, "refused", {"isolation.pid"}, cell.report);
  ::unsetenv("BH_ESCAPE_SECRET");
}

BH_ROW("A23", "/proc tells nothing of the whole machine") {
  row.attacks("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.proc"});
    Ways ways;
    for (const std::string name :
         {"kcore", "keys", "timer_list", "sched_debug", "slabinfo", "vmallocinfo", "kpagecount",
          "kpageflags", "latency_stats", "scsi/scsi", "acpi/wakeup", "asound/cards", "cmdline"}) {
      const std::string path = "/proc/" + name;
      struct stat st {};
      if (::stat(path.c_str(), &st) != 0) continue;
      // A file that is empty on this machine tells nothing, and of keys each sees its own alone.
      const bool control = tells(path) && name != "keys";
      ways.push_back({name, "test \"$(head -c 1 " + path + " | wc -c)\" = 1",
                      control ? Way::kAll : Way::kNobody});
    }
    return ways;
  });
  Cell cell(row.backend());
  // That one is there can be told without mounts, and the report says so.
  const std::string host = std::to_string(::getpid());
  row.judge(cell.sh("cat /proc/" + host + "/comm").exit.exit_code == 0, "hidden", {"isolation.pid"},
            cell.report);
  row.judge(cell.sh("test -e /proc/" + host).exit.exit_code == 0, "hidden", {"isolation.hides"},
            cell.report);
}
