// How commands end: everything they started, whatever it does, with one clear result.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "row.h"
#include "support/groups.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Starts a shell as any program would, in a process group of its own.
pid_t plain(const std::string& script, int out = -1) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    if (out >= 0) ::dup2(out, 1);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  return pid;
}

std::string words(const std::string& mark) { return "sleep" + std::string(1, '\0') + mark; }

}  // namespace

BH_ROW("P4", "double-forked daemons end with the command") {
  const auto script = [](const std::string& mark) {
    return "(setsid sh -c 'setsid sleep " + mark + " >/dev/null 2>&1 &' &); echo hi";
  };
  const std::string free = fresh_mark();
  const pid_t shell = plain(script(free) + " >/dev/null");
  ::waitpid(shell, nullptr, 0);
  CHECK(there(words(free)));
  ::kill(-shell, SIGKILL);  // what a host that knows process groups alone would do
  std::this_thread::sleep_for(100ms);
  CHECK(processes_with(words(free)) == 1);
  kill_all_with(words(free));

  Cell cell(row.backend());
  const std::string mark = fresh_mark();
  const Ran ran = cell.sh(script(mark));
  CHECK(ran.out == "hi\n");
  CHECK((ran.exit.flags & BH_EXITED_LEFTOVERS) != 0);
  row.judge(processes_with(words(mark)) != 0, "ended", {"isolation.end"}, cell.report);
  kill_all_with(words(mark));
}

BH_ROW("P5", "nothing survives a host that was killed") {
  const std::string mark = fresh_mark();
  const auto script = [](const std::string& m) {
    return "trap '' TERM INT HUP; (setsid setsid sleep " + m + " &); sleep " + m +
           " & kill -STOP $$; sleep " + m;
  };
  {
    const std::string free = fresh_mark();
    const pid_t host = ::fork();
    if (host == 0) {
      (void)plain(script(free));
      for (;;) ::pause();
    }
    CHECK(there(words(free), 2));
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    std::this_thread::sleep_for(100ms);
    CHECK(processes_with(words(free)) >= 2);
    kill_all_with(free);
  }
  Cell cell(row.backend());
  REQUIRE(cell.make() == BH_OK);
  const pid_t host = ::fork();
  if (host == 0) {
    (void)cell.backend.sh("s1", script(mark));
    ::_exit(0);
  }
  REQUIRE(there(words(mark), 2));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  const bool left = !gone(mark);
  row.judge(left, "ended", {"isolation.end"}, cell.report);
  kill_all_with(mark);
}

BH_ROW("P5", "nothing survives a helper program that was killed") {
  if (row.backend() == "ns") {
    return row.not_applicable("the broker's death is tried where the backend's own tests are");
  }
  Cell cell(row.backend());
  const std::string mark = fresh_mark();
  REQUIRE(cell.make() == BH_OK);
  Command c;
  c.argv = {"sh", "-c", "sleep " + mark + " & sleep " + mark};
  c.beside = [&](testing::FakeCall& call) {
    (void)there(words(mark), 2);
    const std::string notes = cell.backend.state() + "/s1/run";
    int host = 0, helper = 0;
    unsigned long long started = 0;
    if (fs::exists(notes) && !fs::is_empty(notes)) {
      std::istringstream line(fs::read_symlink(*fs::directory_iterator(notes)).string());
      line >> host >> started >> helper;
    }
    // Without one to kill the command is ended in another way, which fails below.
    if (helper > 1) {
      ::kill(helper, SIGKILL);
    } else {
      call.stop();
    }
  };
  const Ran ran = cell.backend.run("s1", c);
  CHECK(ran.exit.reason == BH_EXIT_LOST);
  row.judge(!gone(mark), "ended", {"isolation.end"}, cell.report);
  kill_all_with(mark);
}

BH_ROW("P5", "a thread that ends takes nothing with it") {
  Cell cell(row.backend());
  REQUIRE(cell.make() == BH_OK);
  // The helper is started by a thread that is gone before the command ends, as the host's may be.
  Ran ran;
  std::thread([&] { ran = cell.backend.sh("s1", "sleep 0.2; echo done"); }).join();
  CHECK(ran.out == "done\n");
  row.is("ended");
}

BH_ROW("P6", "a child that holds the output does not hold up the result") {
  const std::string free = fresh_mark();
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t shell = plain("sleep " + free + " & echo hi", ends[1]);
  ::close(ends[1]);
  ::waitpid(shell, nullptr, 0);
  char buffer[16];
  CHECK(::read(ends[0], buffer, sizeof buffer) == 3);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  CHECK(::read(ends[0], buffer, sizeof buffer) == -1);  // ended, and yet there is no end of file
  kill_all_with(words(free));
  ::close(ends[0]);

  Cell cell(row.backend());
  const std::string mark = fresh_mark();
  const Ran ran = cell.sh("sleep " + mark + " & echo hi");
  CHECK(ran.out == "hi\n");
  CHECK(ran.exit.reason == BH_EXIT_CODE);
  CHECK(ran.exit.exit_code == 0);
  CHECK((ran.exit.flags & (BH_EXITED_LEFTOVERS | BH_EXITED_OUTPUT_OPEN)) != 0);
  CHECK(gone(words(mark)));
  row.is("ended");
}

BH_ROW("P7", "a command that ignores every signal, or is stopped, ends all the same") {
  for (const bool stopped : {false, true}) {
    CAPTURE(stopped);
    Cell cell(row.backend());
    REQUIRE(cell.make() == BH_OK);
    Command c;
    c.argv = {"./probe", "ignore"};
    if (stopped) c.argv = {"sh", "-c", "echo ready; kill -STOP $$"};
    c.beside = [&](testing::FakeCall& call) {
      for (int i = 0; i < 200 && call.out().empty(); ++i) std::this_thread::sleep_for(25ms);
      call.stop();
    };
    const Ran ran = cell.backend.run("s1", c);
    CHECK(ran.status == BH_CANCELLED);
    CHECK(ran.out == "ready\n");
  }
  // The control: asking such a program to end does nothing.
  OpenFolder folder;
  const pid_t deaf = ::fork();
  if (deaf == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 1);
    ::execl(BH_PROBE, "probe", "ignore", nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(200ms);
  ::kill(deaf, SIGTERM);
  std::this_thread::sleep_for(100ms);
  CHECK(::waitpid(deaf, nullptr, WNOHANG) == 0);
  ::kill(deaf, SIGKILL);
  ::waitpid(deaf, nullptr, 0);
  row.is("ended");
}

BH_ROW("P10", "many commands leave no descriptor, process, folder or group") {
  Cell cell(row.backend());
  // Some backends make the next command's process ahead, in the background.
  for (int i = 0; i < 5; ++i) CHECK(cell.sh("true").exit.exit_code == 0);
  std::this_thread::sleep_for(500ms);
  const int before = open_descriptors();
  for (int i = 0; i < 60; ++i) CHECK(cell.sh("true").exit.exit_code == 0);
  for (int i = 0; i < 40 && open_descriptors() != before; ++i) std::this_thread::sleep_for(50ms);
  CHECK(open_descriptors() == before);
  const int leak = ::open("/", O_RDONLY | O_CLOEXEC);  // the control: one that is left is seen
  CHECK(open_descriptors() == before + 1);
  ::close(leak);
  const std::string notes = cell.backend.state() + "/s1/run";
  CHECK((!fs::exists(notes) || fs::is_empty(notes)));
  int status = 0;
  if (row.backend() != "ns") {  // whose broker is a child that stays
    CHECK((::waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD));
  }
  // A group may serve the next command; what all of them had goes with the sandbox.
  CHECK(cell.backend.destroy("s1") == BH_OK);
  CHECK(count_groups(cell.backend.state()) == 0);
  row.is("ended");
}

BH_ROW("P16", "a time limit gives one clear result, also at the very end of a command") {
  Cell cell(row.backend());
  REQUIRE(cell.make() == BH_OK);
  const Ran in_time = cell.sh("sleep 0.05; echo done");  // the control
  CHECK(in_time.exit.reason == BH_EXIT_CODE);
  int ended = 0, cut = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string limit = std::to_string(40 + i * 2);
    const Ran ran = cell.sh("sleep 0.05", R"({"limits":{"wall_ms":)" + limit + "}}");
    CAPTURE(limit, ran.exit.reason, ran.exit.exit_code);
    CHECK(ran.status == BH_OK);
    CHECK((ran.exit.reason == BH_EXIT_CODE || ran.exit.reason == BH_EXIT_TIME));
    if (ran.exit.reason == BH_EXIT_CODE) {
      CHECK(ran.exit.exit_code == 0);
      ++ended;
    }
    if (ran.exit.reason == BH_EXIT_TIME) ++cut;
  }
  CHECK(ended + cut == 20);
  CHECK(cell.sh("sleep 5", R"({"limits":{"wall_ms":1}})").exit.reason == BH_EXIT_TIME);
  CHECK(cell.sh("echo on", R"({"limits":{"wall_ms":2147483648}})").out == "on\n");
  CHECK(cell.sh("echo on", R"({"limits":{"wall_ms":9223372036854775807}})").out == "on\n");
  row.is("ended");
}

BH_ROW("P17", "a question is never waited for") {
  // The control: with a stdin that stays open a shell waits.
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t waits = ::fork();
  if (waits == 0) {
    ::dup2(ends[0], 0);
    ::execl("/bin/sh", "sh", "-c", "read answer", nullptr);
    ::_exit(127);
  }
  std::this_thread::sleep_for(200ms);
  CHECK(::waitpid(waits, nullptr, WNOHANG) == 0);
  ::kill(waits, SIGKILL);
  ::waitpid(waits, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);

  Cell cell(row.backend());
  CHECK(cell.sh("read answer || echo nothing").out == "nothing\n");
  CHECK(cell.sh("echo $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND").out == "0 noninteractive\n");
  const Ran asked = cell.sh("(exec 3<>/dev/tty) 2>/dev/null || echo nobody");
  CHECK(asked.out == "nobody\n");
  row.is("ended");
}

BH_ROW("P18", "each odd end is told as what it was") {
  const auto ends = [](Cell& c) {
    c.folder.write("work/plain", "echo ran\n");
    c.folder.write("work/lost", "#!/absent/interpreter\n");
    for (const char* name : {"plain", "lost"}) ::chmod((c.work + "/" + name).c_str(), 0755);
    REQUIRE(c.make() == BH_OK);
    std::string out;
    const auto note = [&](const Ran& ran) {
      out += std::to_string(ran.status) + ":" + std::to_string(ran.exit.reason) + ":" +
             std::to_string(ran.exit.exit_code) + ":" + std::to_string(ran.exit.signal) + " ";
    };
    for (const char* script : {"kill -SEGV $$", "kill -KILL $$", "exit 126", "exit 127", "exit 255",
                               "./plain", "ulimit -c 0; kill -ABRT $$"}) {
      note(c.sh(script));
    }
    for (const std::vector<std::string>& argv : {std::vector<std::string>{"./absent"},
                                                 {"./lost"},
                                                 {c.work},
                                                 {"./plain"},
                                                 {"true", std::string(3 << 20, 'x')}}) {
      Command command;
      command.argv = argv;
      note(c.backend.run("s1", command));
    }
    return out;
  };
  Cell free("process"), cell(row.backend());
  const std::string expected = ends(free), seen = ends(cell);
  // A signal is no code, and what could not be started is no command that ended with 127.
  CHECK(seen == expected);
  const std::string started = std::to_string(BH_OK);
  CHECK(seen.rfind(started + ":2:-1:11 " + started + ":2:-1:9 " + started + ":1:126:0 " + started +
                       ":1:127:0 " + started + ":1:255:0 ",
                   0) == 0);
  row.is("told");
}
