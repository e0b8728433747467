// What can be done to a sandbox that runs: terminals, pause and resume, connections to its ports,
// processes that commands share.
#include <bulkhead/isolation_state.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "setting.h"

using namespace bh_test;
using namespace std::chrono_literals;

namespace {

template <class Table>
const Table* table_of(const Backend& backend, const char* id) {
  return static_cast<const Table*>(backend.table().get_extension(id));
}

struct Told {
  bh_status status;
  std::string message, details;
};
// body(bh_call*) on a call of its own.
template <class Body>
Told ask(const Backend& backend, Body body) {
  testing::FakeCall call(backend.host());
  const bh_status st = body(call.raw());
  return {st, call.recorded().message, call.recorded().details};
}

Told set_paused(const Backend& backend, bool paused) {
  const auto* table = table_of<bh_isolation_pause>(backend, BH_ISOLATION_PAUSE);
  REQUIRE(table != nullptr);
  return ask(backend, [&](bh_call* call) {
    return (paused ? table->pause : table->resume)(backend.handle("s1"), call);
  });
}

Told dial(const Backend& backend, uint32_t port, bh_fd& fd) {
  const auto* table = table_of<bh_isolation_ports>(backend, BH_ISOLATION_PORTS);
  REQUIRE(table != nullptr);
  fd = -1;
  return ask(backend,
             [&](bh_call* call) { return table->dial(backend.handle("s1"), call, port, &fd); });
}

std::string inspect(const Backend& backend) {
  testing::FakeCall call(backend.host());
  CHECK(backend.table().inspect(backend.handle("s1"), call.raw()) == BH_OK);
  return call.recorded().result;
}

constexpr char kServer[] =
    "import socket\n"
    "s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
    "s.bind(('127.0.0.1', 8123)); s.listen(); print('ready', flush=True)\n"
    "while True:\n"
    "    c, _ = s.accept(); c.sendall(b'hello ' + c.recv(100)); c.close()\n";

}  // namespace

TEST_CASE("a command with a terminal sees one, of the size that was asked for") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);
  const std::string script =
      "test -t 0 && test -t 1 && test -t 2 && echo all; stty size; echo $TERM; tty > /dev/null && echo "
      "named; echo to-stderr >&2; test -r /dev/tty && echo controlling > /dev/tty; "
      "stty size < /dev/tty";
  Ran ran = s.backend.sh("s1", script, R"({"tty":{"rows":33,"cols":101,"term":"dumb"}})");
  CHECK(ran.status == BH_OK);
  CHECK(ran.out == "all\r\n33 101\r\ndumb\r\nnamed\r\nto-stderr\r\ncontrolling\r\n33 101\r\n");
  CHECK(ran.err.empty());

  // The control: without it there is none.
  ran = s.backend.sh("s1", "test -t 0 || test -t 1 || test -t 2 || echo none; true < /dev/tty || echo no");
  CHECK(ran.out == "none\nno\n");
}

TEST_CASE("a terminal takes input, echoes it, and ends with it") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);
  Command c;
  c.argv = {"cat"};
  c.options = R"({"tty":{}})";
  c.has_input = true;
  c.input = "one\n";
  const Ran ran = s.backend.run("s1", c);
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.exit_code == 0);
  CHECK(ran.out == "one\r\none\r\n");
  CHECK(ran.seconds < 10);
}

TEST_CASE("a terminal's size changes while its command runs, and the command is told") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);
  const auto* table = table_of<bh_isolation_pty>(s.backend, BH_ISOLATION_PTY);
  REQUIRE(table != nullptr);
  auto resize = [&](const std::string& id) {
    return ask(s.backend, [&](bh_call* call) {
      return table->resize(s.backend.handle("s1"), call, id.data(), id.size(), 50, 120);
    });
  };
  Command c;
  c.id = "t1";
  c.options = R"({"tty":{"rows":10,"cols":20}})";
  c.argv = {"sh", "-c", "trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.05; done"};
  Told told{};
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].find("10 20") == std::string::npos) {
      std::this_thread::sleep_for(5ms);
    }
    told = resize("t1");
  };
  const Ran ran = s.backend.run("s1", c);
  CHECK(told.status == BH_OK);
  CHECK(ran.out == "10 20\r\n50 120\r\n");

  CHECK(resize("t1").status == BH_NOT_FOUND);
  // One that has no terminal.
  Command plain;
  plain.id = "p1";
  plain.argv = {"sh", "-c", "echo on; sleep 30"};
  plain.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    told = resize("p1");
    call.stop();
  };
  (void)s.backend.run("s1", plain);
  CHECK(told.status == BH_FAILED_PRECONDITION);
  CHECK(told.details.find("no_terminal") != std::string::npos);
}

TEST_CASE("a paused sandbox stands still and takes no command until it is resumed") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);
  Told told = set_paused(s.backend, true);
  if (told.status == BH_UNIMPLEMENTED) {
    CHECK(told.details.find("pause_unsupported") != std::string::npos);
    BH_SKIP(provider + ": " + told.message);
  }
  REQUIRE(told.status == BH_OK);
  CHECK(set_paused(s.backend, true).status == BH_OK);
  Ran ran = s.backend.sh("s1", "true");
  CHECK(ran.status == BH_FAILED_PRECONDITION);
  CHECK(ran.details.find("\"paused\"") != std::string::npos);
  CHECK(inspect(s.backend).find("\"paused\"") != std::string::npos);
  REQUIRE(set_paused(s.backend, false).status == BH_OK);
  CHECK(set_paused(s.backend, false).status == BH_OK);
  CHECK(s.backend.sh("s1", "echo on").out == "on\n");

  // One that runs: it counts, stands, and counts on.
  Command c;
  c.argv = {"sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; sleep 0.01; done"};
  size_t before = 0, during = 0;
  bool went_on = false;
  c.beside = [&](testing::FakeCall& call) {
    auto lines = [&] { return call.recorded().output[BH_STREAM_STDOUT].size(); };
    while (lines() < 20) std::this_thread::sleep_for(5ms);
    told = set_paused(s.backend, true);
    std::this_thread::sleep_for(150ms);
    before = lines();
    std::this_thread::sleep_for(300ms);
    during = lines();
    (void)set_paused(s.backend, false);
    for (int i = 0; i < 1000 && !went_on; ++i) {
      std::this_thread::sleep_for(5ms);
      went_on = lines() > during;
    }
    call.stop();
  };
  ran = s.backend.run("s1", c);
  CHECK(told.status == BH_OK);
  CHECK(before == during);
  CHECK(went_on);
  CHECK(ran.status == BH_CANCELLED);
}

TEST_CASE("a paused sandbox can be destroyed, with what runs in it") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider);
  CAPTURE(provider);
  if (set_paused(s.backend, false).status != BH_OK) BH_SKIP(provider + ": no freezer");
  Command c;
  c.argv = {"sh", "-c", "echo on; sleep 30"};
  bh_status destroyed = BH_UNKNOWN;
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    (void)set_paused(s.backend, true);
    testing::FakeCall own(s.backend.host());
    destroyed = s.backend.table().destroy(s.backend.self(), own.raw(), "s1", 2);
  };
  const Ran ran = s.backend.run("s1", c);
  CHECK(destroyed == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_STOPPED);
  CHECK(ran.seconds < 10);
}

TEST_CASE("a port inside can be connected to while somebody listens") {
  BH_NEEDS("ns");
  Setting s("ns");
  bh_fd fd = -1;
  CHECK(dial(s.backend, 8123, fd).status == BH_UNAVAILABLE);
  CHECK(s.backend.sh("s1", "true").exit.exit_code == 0);
  Told told = dial(s.backend, 8123, fd);
  CHECK(told.status == BH_UNAVAILABLE);
  CHECK(told.details.find("nobody_listens") != std::string::npos);
  CHECK(dial(s.backend, 0, fd).status == BH_INVALID_ARGUMENT);
  CHECK(dial(s.backend, 65536, fd).status == BH_INVALID_ARGUMENT);

  Command c;
  c.argv = {"python3", "-c", kServer};
  std::string heard;
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    told = dial(s.backend, 8123, fd);
    if (fd >= 0) {
      char text[100];
      (void)!::write(static_cast<int>(fd), "you", 3);
      for (ssize_t n; (n = ::read(static_cast<int>(fd), text, sizeof text)) > 0;) {
        heard.append(text, static_cast<size_t>(n));
      }
      ::close(static_cast<int>(fd));
    }
    call.stop();
  };
  (void)s.backend.run("s1", c);
  CHECK(told.status == BH_OK);
  CHECK(heard == "hello you");

  // The host's own network has no ports of the sandbox's.
  Setting wide("ns", R"(,"network":{"mode":"unrestricted"})");
  CHECK(dial(wide.backend, 8123, fd).status == BH_UNIMPLEMENTED);
}

TEST_CASE("commands that share their processes see, keep and end each other's") {
  BH_NEEDS("ns");
  Setting s("ns", R"(,"processes":"sandbox")");
  CHECK(rule_status(s.backend.report, "processes") == "enforced");
  Ran ran = s.backend.sh("s1", "sleep 977 > /dev/null 2>&1 & echo started");
  INFO(ran.message << ran.details);
  CHECK(ran.out == "started\n");
  CHECK(ran.exit.flags & BH_EXITED_LEFTOVERS);
  CHECK(ran.seconds < 5);
  const std::string count = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 97[7]'";
  CHECK(s.backend.sh("s1", count).out == "1\n");
  CHECK(s.backend.sh("s1", "pkill -f '^sleep 977' && echo sent").out == "sent\n");
  CHECK(s.backend.sh("s1", "sleep 0.2; " + count).out == "0\n");

  // One that is stopped takes its own along, and nobody else's.
  CHECK(s.backend.sh("s1", "sleep 978 > /dev/null 2>&1 &").exit.exit_code == 0);
  ran = s.backend.sh("s1", "setsid sleep 979 > /dev/null 2>&1 & sleep 30", R"({"limits":{"wall_ms":300}})");
  CHECK(ran.exit.reason == BH_EXIT_TIME);
  CHECK(s.backend.sh("s1", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 97[0-9]'").out ==
        "sleep 978\n");

  // The other way is the default.
  Setting apart("ns");
  CHECK(apart.backend.sh("s1", "sleep 30 > /dev/null 2>&1 &").exit.flags & BH_EXITED_LEFTOVERS);
  CHECK(apart.backend.sh("s1", "ls /proc | grep -c '^[0-9]'").out == "4\n");
}


TEST_CASE("a command that stops or kills what watches over it ends in time all the same") {
  BH_NEEDS("ns");
  Setting s("ns", R"(,"processes":"sandbox")");
  // Among shared processes it can reach it. Its first word may have been said by then, or not.
  for (int i = 0; i < 4; ++i) {
    const Ran ran = s.backend.sh("s1", "kill -STOP $PPID; sleep 60", R"({"limits":{"wall_ms":200}})");
    INFO(ran.message << ran.details);
    CHECK(ran.exit.reason == BH_EXIT_TIME);
    CHECK(ran.seconds < 30);
  }
  const Ran killed = s.backend.sh("s1", "kill -KILL $PPID; sleep 60", R"({"limits":{"wall_ms":200}})");
  CHECK(killed.exit.reason != BH_EXIT_CODE);
  CHECK(killed.seconds < 30);
  CHECK(s.backend.sh("s1", "echo on").out == "on\n");
}

TEST_CASE("what watches over a command is stopped: its end is seen all the same") {
  BH_NEEDS("ns");
  Setting s("ns", R"(,"processes":"sandbox")");
  const Ran ran = s.backend.sh("s1", "(sleep 0.05; kill -STOP $PPID) > /dev/null 2>&1 & exec sleep 0.3");
  INFO(ran.message << ran.details);
  CHECK(ran.seconds < 5);
  CHECK(s.backend.sh("s1", "echo on").out == "on\n");
}

TEST_CASE("shared processes end with their sandbox") {
  BH_NEEDS("ns");
  const std::string mark = "9" + std::to_string(::getpid() % 100000 + 100000);
  // The bracket keeps it from finding the shell that looks.
  const std::string look = "pgrep -f 'slee[p] " + mark + "' > /dev/null";
  {
    Setting s("ns", R"(,"processes":"sandbox")");
    const Ran ran =
        s.backend.sh("s1", "for i in 1 2 3; do setsid sleep " + mark + " > /dev/null 2>&1 & done");
    INFO(ran.message << ran.err);
    CHECK(ran.exit.exit_code == 0);
    CHECK(::system(look.c_str()) == 0);
  }
  CHECK(::system(look.c_str()) != 0);
}
