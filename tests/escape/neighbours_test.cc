// Sandboxes beside each other: what they share, and what commands of one see of each other.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "row.h"

using namespace bh_test;
using namespace std::chrono_literals;

BH_ROW("P19", "shared memory of the host is not there") {
  const int segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
  REQUIRE(segment >= 0);
  row.attack("hidden", [](Cell& c) {
    c.spoken_of_by({"isolation.ipc"});
    const std::string lines = c.sh("wc -l < /proc/sysvipc/shm").out;
    return !lines.empty() && lines != "1\n";
  });
  ::shmctl(segment, IPC_RMID, nullptr);

  const std::string name = "/bulkhead-" + fresh_mark();
  const int shared = ::shm_open(name.c_str(), O_CREAT | O_RDWR, 0666);
  REQUIRE(shared >= 0);
  REQUIRE(::ftruncate(shared, 4096) == 0);
  ::fchmod(shared, 0666);
  row.attacks("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.ipc"});
    return Ways{
        {"read", "head -c 1 /dev/shm" + name},
        {"write", "dd if=/dev/zero of=/dev/shm" + name + " bs=1 count=1 conv=notrunc,nocreat"}};
  });
  ::shm_unlink(name.c_str());
  ::close(shared);
}

BH_ROW("P19", "a server in another persona's sandbox is out of reach") {
  Cell other(row.backend(), R"(,"persona":"b")", "s2"), cell(row.backend(), R"(,"persona":"a")");
  REQUIRE(other.make() == BH_OK);
  REQUIRE(cell.make() == BH_OK);
  int port = 0;
  {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&any), size) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size) == 0);
    port = ntohs(any.sin_port);
    ::close(fd);
  }
  Command c;
  c.argv = {"./probe", "serve", std::to_string(port)};
  bool reached = false, answered = false;
  const std::string order = "network 127.0.0.1 " + std::to_string(port);
  c.beside = [&](testing::FakeCall& call) {
    for (int i = 0; i < 200 && call.out().empty(); ++i) std::this_thread::sleep_for(25ms);
    answered = call.out() == "serving\n";
    reached = cell.probe(order).at("tcp") == "ok";
    call.stop();
  };
  const Ran ran = other.backend.run("s2", c);
  CAPTURE(ran.out, ran.err);
  if (!answered) row.note("no server could be started inside");
  row.judge(reached, "refused", {"network.mode"}, cell.report);
  {
    // The control: two commands without sandboxes do meet.
    Cell a("process", "", "s3"), b("process", "", "s4");
    REQUIRE(a.make() == BH_OK);
    REQUIRE(b.make() == BH_OK);
    bool met = false;
    Command server = c;
    server.beside = [&](testing::FakeCall& call) {
      for (int i = 0; i < 200 && call.out().empty(); ++i) std::this_thread::sleep_for(25ms);
      met = b.probe(order).at("tcp") == "ok";
      call.stop();
    };
    (void)a.backend.run("s3", server);
    CHECK(met);
  }
  // Where a sandbox has no loopback at all, its report says so.
  CHECK(
      (answered || rule_reason(cell.report, "network.mode").find("loopback") != std::string::npos));
}

BH_ROW("P19", "another persona's workspace, HOME and /tmp are closed where the host hides them") {
  OpenFolder data;
  data.write("b/workspace/key", "KEY");
  data.make("a/workspace");
  row.attack("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.hides"});
    const std::string read_it = "cat " + data.path() + "/b/workspace/key; exit 0";
    if (c.free()) return c.sh(read_it).out == "KEY";
    const std::string profile = R"({"persona":"a","workspace":{"source":)" +
                                quote(data.path() + "/a/workspace") + R"(},"hide":[)" +
                                quote(data.path()) + "]}";
    REQUIRE(c.backend.create("s2", profile) == BH_OK);
    c.report = c.backend.report;
    const bool seen = c.backend.sh("s2", read_it).out == "KEY";
    CHECK(c.backend.destroy("s2") == BH_OK);
    return seen;
  });
}

BH_ROW("A24", "commands of one sandbox see each other's processes only where that was asked for") {
  const auto sees = [](Cell& c) {
    REQUIRE(c.make() == BH_OK);
    const std::string mark = fresh_mark();
    Command server;
    server.argv = {"sleep", mark};
    bool seen = false;
    server.beside = [&](testing::FakeCall& call) {
      if (there("sleep" + std::string(1, '\0') + mark)) {
        const Ran ran =
            c.backend.sh("s1", "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $f; echo; done");
        seen = ("\n" + ran.out).find("\nsleep " + mark) != std::string::npos;
      }
      call.stop();
    };
    (void)c.backend.run("s1", server);
    return seen;
  };
  row.attack("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.pid", "isolation.signals"});
    return sees(c);
  });
  const std::string schema = Backend(row.backend()).table().profile_schema;
  if (schema.find("\"processes\"") == std::string::npos) {
    return row.note("no option for commands that share their processes");
  }
  Cell shared(row.backend(), R"(,"processes":"sandbox")");
  CHECK(sees(shared));
  CHECK(rule_status(shared.report, "processes") == "enforced");
}

BH_ROW("A26", "a fork of the host does not end, block or outlive what the host runs") {
  Cell cell(row.backend());
  REQUIRE(cell.make() == BH_OK);
  // A child that an embedder forked, as Python's multiprocessing does, asks, and goes.
  const std::string asked =
      in_child([&] { return cell.backend.sh("s1", "echo from a fork").out + "asked"; });
  CHECK((asked == "asked" || asked == "from a fork\nasked"));
  CHECK(cell.sh("echo on").out == "on\n");

  // One that holds copies of all descriptors, while the host that runs a command is killed.
  const std::string mark = fresh_mark();
  const pid_t host = ::fork();
  if (host == 0) {
    if (::fork() == 0) {
      ::sleep(20);
      ::_exit(0);
    }
    (void)cell.backend.sh("s1", "sleep " + mark);
    ::_exit(0);
  }
  const std::string words = "sleep" + std::string(1, '\0') + mark;
  CHECK(there(words));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  row.judge(!gone(words), "ended", {"isolation.end"}, cell.report);
  kill_all_with(words);
}
