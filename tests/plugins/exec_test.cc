// What every backend with processes owes to a command: its exit, its bytes, its end. All backends
// of ours run the same cases.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "setting.h"
#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

using namespace bh_test;
using namespace std::chrono_literals;

TEST_CASE("a command's exit is told as it was") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);

  Ran ran = s.backend.sh("s1", "exit 3");
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_CODE);
  CHECK(ran.exit.exit_code == 3);

  ran = s.backend.sh("s1", "kill -SEGV $$");
  CHECK(ran.exit.reason == BH_EXIT_SIGNAL);
  CHECK(ran.exit.signal == SIGSEGV);
  CHECK(ran.exit.exit_code == -1);

  // 137 as a code is not the signal.
  ran = s.backend.sh("s1", "exit 137");
  CHECK(ran.exit.reason == BH_EXIT_CODE);
  CHECK(ran.exit.exit_code == 137);
}

TEST_CASE("a program that is not there is told apart from one that ends with 127") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);

  Command missing;
  missing.argv = {"bulkhead-no-such-program"};
  Ran ran = s.backend.run("s1", missing);
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.exit_code == 127);
  CHECK(ran.err == "bulkhead-no-such-program: command not found\n");
  CHECK(ran.result.find("\"not_run\"") != std::string::npos);

  ran = s.backend.sh("s1", "exit 127");
  CHECK(ran.exit.exit_code == 127);
  CHECK(ran.result.empty());

  // There, but not to be run.
  s.folder.write("work/plain", "no program");
  missing.argv = {s.work + "/plain"};
  ran = s.backend.run("s1", missing);
  CHECK(ran.exit.exit_code == 126);
  CHECK(ran.result.find("\"not_run\"") != std::string::npos);

  // A folder that is not there is nobody's exit code.
  ran = s.backend.sh("s1", "true", R"({"cwd":"/bulkhead/no/such/folder"})");
  CHECK(ran.status == BH_FAILED_PRECONDITION);
  CHECK(ran.details.find("\"cwd\"") != std::string::npos);
}

TEST_CASE("argv and bytes pass unchanged") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  Command c;
  c.argv = {"printf", "%s|", "", "a b", "\xff\xfe", "new\nline", "--", "'\"$x"};
  const Ran ran = s.backend.run("s1", c);
  CHECK(ran.exit.exit_code == 0);
  CHECK(ran.out == "|a b|\xff\xfe|new\nline|--|'\"$x|");

  c.argv = {"cat"};
  c.has_input = true;
  c.input = std::string("\0\x01\xff", 3) + "end";
  CHECK(s.backend.run("s1", c).out == c.input);
}

TEST_CASE("without input stdin is empty, not the host's") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  const Ran ran = s.backend.sh("s1", "cat; echo end");
  CHECK(ran.out == "end\n");
}

TEST_CASE("stdout and stderr are two streams") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  const Ran ran = s.backend.sh("s1", "echo one; echo two >&2");
  CHECK(ran.out == "one\n");
  CHECK(ran.err == "two\n");
}

TEST_CASE("many bytes pass both ways at once") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  Command c;
  c.argv = {"tee", "/dev/stderr"};
  c.has_input = true;
  c.input.resize(size_t{24} << 20);
  for (size_t i = 0; i < c.input.size(); ++i) c.input[i] = static_cast<char>(i * 31 + (i >> 12));
  const Ran ran = s.backend.run("s1", c);
  CHECK(ran.exit.exit_code == 0);
  CHECK((ran.out == c.input));
  CHECK((ran.err == c.input));
}

TEST_CASE("a command that closes its stdin tells the sender") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  Command c;
  c.argv = {"sh", "-c", "exec 0<&-; sleep 0.3; echo done"};
  c.has_input = true;
  c.input.assign(size_t{8} << 20, 'x');
  const Ran ran = s.backend.run("s1", c);
  CHECK(ran.out == "done\n");
  CHECK(ran.input_ended);
}

TEST_CASE("what holds the output open after the end is cut off, and told") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  const Ran ran = s.backend.sh("s1", "sleep 300 & echo hi");
  CHECK(ran.out == "hi\n");
  CHECK(ran.exit.reason == BH_EXIT_CODE);
  CHECK(ran.exit.exit_code == 0);
  CHECK((ran.exit.flags & BH_EXITED_OUTPUT_OPEN) != 0);
  CHECK((ran.exit.flags & BH_EXITED_LEFTOVERS) != 0);
  CHECK(ran.seconds < 30);

  // What it says within the moment that it is given still arrives.
  const Ran late = s.backend.sh("s1", "(sleep 0.02; echo late) & echo hi");
  // (On a machine so busy that the moment is over first, that is told.)
  const bool cut = (late.exit.flags & BH_EXITED_OUTPUT_OPEN) != 0;
  CHECK(late.out == (cut ? "hi\n" : "hi\nlate\n"));

  const Ran clean = s.backend.sh("s1", "echo hi");
  CHECK(clean.exit.flags == 0);
}

TEST_CASE("the time limit ends everything, also what left the process group") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider, R"(,"limits":{"wall_ms":2500})");
  const std::string mark = s.work + "/alive";
  const std::string script = "trap '' TERM INT HUP; (setsid setsid sh -c 'while :; do date > " +
                             mark + "; sleep 0.05; done' &); kill -STOP $$; sleep 300";
  const Ran ran = s.backend.sh("s1", script);
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_TIME);
  CHECK(ran.seconds < 60);
  REQUIRE(exists(mark));
  ::unlink(mark.c_str());
  std::this_thread::sleep_for(400ms);
  CHECK_FALSE(exists(mark));
}

TEST_CASE("the output limit ends the command, to the byte") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider, R"(,"limits":{"output_bytes":100000})");
  const Ran ran = s.backend.sh("s1", "yes");
  CHECK(ran.exit.reason == BH_EXIT_OUTPUT);
  CHECK(ran.out.size() == 100000);
  const Ran fine = s.backend.sh("s1", "head -c 100000 /dev/zero");
  CHECK(fine.exit.reason == BH_EXIT_CODE);
  CHECK(fine.out.size() == 100000);
}

TEST_CASE("cancel ends a command within two seconds, whatever it does") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  for (const std::string script :
       {"sleep 300", "trap '' TERM; while :; do :; done", "yes", "kill -STOP $$"}) {
    CAPTURE(script);
    std::chrono::steady_clock::time_point asked;
    Command c;
    c.argv = {"sh", "-c", script};
    c.beside = [&](testing::FakeCall& call) {
      std::this_thread::sleep_for(400ms);
      asked = std::chrono::steady_clock::now();
      call.stop();
    };
    const Ran ran = s.backend.run("s1", c);
    CHECK(ran.status == BH_CANCELLED);
    CHECK(ran.exit.reason == BH_EXIT_STOPPED);
    CHECK(std::chrono::steady_clock::now() - asked < 3s);  // 2 s, and a busy machine
  }
  // The sandbox is not touched by it.
  CHECK(s.backend.sh("s1", "echo on").out == "on\n");
}

TEST_CASE("a reader that says stop is no longer written to") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  Command c;
  c.argv = {"yes"};
  c.beside = [](testing::FakeCall& call) { call.stop_at_emit(3); };
  const Ran ran = s.backend.run("s1", c);
  CHECK(ran.status == BH_CANCELLED);
}

TEST_CASE("signals reach all processes of a command") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  const std::string ready = s.work + "/ready";
  Command c;
  c.id = "to-signal";
  c.argv = {
      "sh", "-c",
      "trap 'echo got; exit 7' USR1; (trap 'echo child' USR1; while :; do sleep 0.05; done) & "
      "touch " +
          ready + "; while :; do sleep 0.05; done"};
  bh_status sent = BH_UNKNOWN;
  c.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 400 && !exists(ready); ++i) std::this_thread::sleep_for(25ms);
    std::this_thread::sleep_for(100ms);
    sent = s.backend.signal("s1", "to-signal", SIGUSR1);
  };
  const Ran ran = s.backend.run("s1", c);
  CHECK(sent == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_CODE);
  CHECK(ran.exit.exit_code == 7);
  CHECK(ran.out.find("got\n") != std::string::npos);
  CHECK(s.backend.signal("s1", "to-signal", SIGUSR1) == BH_NOT_FOUND);

  ::unlink(ready.c_str());
  c.id = "to-end";
  c.argv = {"sh", "-c", "touch " + ready + "; sleep 300"};
  c.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 400 && !exists(ready); ++i) std::this_thread::sleep_for(25ms);
    sent = s.backend.signal("s1", "", SIGTERM);
  };
  const Ran ended = s.backend.run("s1", c);
  CHECK(sent == BH_OK);
  CHECK(ended.exit.reason == BH_EXIT_STOPPED);
  CHECK(ended.exit.signal == SIGTERM);
}

TEST_CASE("another process of the owner finds, signals and destroys a sandbox") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  Backend other(provider, s.backend.state());
  REQUIRE(other.find("s1") == BH_OK);
  CHECK(other.find("s2") == BH_NOT_FOUND);
  CHECK_FALSE(other.list().empty());
  const std::string ready = s.work + "/ready";
  Command c;
  c.id = "elsewhere";
  c.argv = {"sh", "-c", "trap 'echo got' USR1; touch " + ready + "; while :; do sleep 0.05; done"};
  bh_status signalled = BH_UNKNOWN, destroyed = BH_UNKNOWN;
  c.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 400 && !exists(ready); ++i) std::this_thread::sleep_for(25ms);
    signalled = other.signal("s1", "elsewhere", SIGUSR1);
    std::this_thread::sleep_for(300ms);
    destroyed = other.destroy("s1");
  };
  const Ran ran = s.backend.run("s1", c);
  CHECK(signalled == BH_OK);
  CHECK(destroyed == BH_OK);
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_STOPPED);
  CHECK(ran.out == "got\n");
  CHECK(other.list().empty());
  CHECK_FALSE(exists(s.backend.state() + "/s1"));
  CHECK(s.backend.sh("s1", "true").status == BH_NOT_FOUND);
  CHECK(other.destroy("s1") == BH_OK);
}

TEST_CASE("what a sandbox left, of whatever shape, goes with it") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  const Ran ran = s.backend.sh(
      "s1",
      "cd ~ && mkdir -p a/b/c locked/in && touch locked/in/file && chmod 0 locked/in locked && "
      "ln -s /etc link && mkfifo pipe && i=0 && while [ $i -lt 200 ]; do mkdir d && cd d || exit 1;"
      " i=$((i+1)); done; touch deep; echo done");
  CHECK(ran.out == "done\n");
  CHECK(s.backend.destroy("s1") == BH_OK);
  CHECK_FALSE(exists(s.backend.state() + "/s1"));
  CHECK(exists("/etc/passwd"));
}

TEST_CASE("half-made sandboxes are listed and destroyed") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Backend backend(provider);
  REQUIRE(backend.create("bad", R"({"required":["isolation.no_such_thing"]})") ==
          BH_FAILED_PRECONDITION);
  REQUIRE(backend.list().size() == 1);
  CHECK(backend.list()[0].find("\"pending\"") != std::string::npos);
  CHECK(backend.find("bad") == BH_FAILED_PRECONDITION);
  CHECK(backend.destroy("bad") == BH_OK);
  CHECK(backend.list().empty());
  CHECK(backend.find("bad") == BH_NOT_FOUND);
}

TEST_CASE("names that lead elsewhere are refused") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Backend backend(provider);
  for (const std::string id : {"", "../x", "a/b", ".", "A", "a b"}) {
    CAPTURE(id);
    CHECK(backend.create(id, "{}") == BH_INVALID_ARGUMENT);
    CHECK(backend.destroy(id) == BH_INVALID_ARGUMENT);
  }
}

TEST_CASE("the environment is what the profile allows and sets") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  ::setenv("BH_TEST_SECRET", "secret", 1);
  ::setenv("BH_TEST_SHOWN", "shown", 1);
  Setting s(provider, R"(,"env":{"allow":["BH_TEST_SH*"],"set":{"A":"profile","B":"profile"}})");
  const Ran ran = s.backend.sh("s1", "env", R"({"env":{"B":"command"}})");
  CHECK(ran.out.find("secret") == std::string::npos);
  CHECK(ran.out.find("BH_TEST_SHOWN=shown\n") != std::string::npos);
  CHECK(ran.out.find("A=profile\n") != std::string::npos);
  CHECK(ran.out.find("B=command\n") != std::string::npos);
  CHECK(ran.out.find("GIT_TERMINAL_PROMPT=0\n") != std::string::npos);
  CHECK(ran.out.find("DEBIAN_FRONTEND=noninteractive\n") != std::string::npos);
  CHECK(ran.out.find("HOME=/") != std::string::npos);
}

TEST_CASE("memory and process limits hold where the report says so") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider, R"(,"limits":{"memory_bytes":67108864,"pids":20})");
  if (rule_status(s.backend.report, "limits.memory_bytes") == "enforced") {
    // tail keeps a line that never ends.
    const Ran ran = s.backend.sh("s1", "tail /dev/zero");
    CHECK(ran.exit.reason == BH_EXIT_MEMORY);
    CHECK(ran.exit.peak_bytes > 1000000);
    CHECK(ran.result.find("memory_kills") != std::string::npos);
  }
  if (rule_status(s.backend.report, "limits.pids") != "unsupported") {
    const Ran ran = s.backend.sh(
        "s1", "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all; kill $(jobs -p)");
    CHECK(ran.out.find("all") == std::string::npos);
  }
  const Ran fine = s.backend.sh("s1", "echo fine");
  CHECK(fine.out == "fine\n");
}
