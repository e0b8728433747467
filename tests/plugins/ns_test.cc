// What is the ns backend's own: its broker, who dies when, what an idle sandbox keeps, what is made ahead.
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "setting.h"

using namespace bh_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace sdk = bulkhead::sdk;

namespace {

std::string text_of(const std::string& path) { return read(path); }

// Parent of a process; 0: it is gone.
int parent_of(int pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const size_t at = stat.rfind(')');
  int parent = 0;
  if (at != std::string::npos) (void)std::sscanf(stat.c_str() + at + 1, " %*c %d", &parent);
  return parent;
}
std::string name_of(int pid) { return text_of("/proc/" + std::to_string(pid) + "/comm"); }

std::vector<int> children_of(int pid) {
  std::vector<int> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int one = std::atoi(entry.path().filename().c_str());
    if (one > 0 && parent_of(one) == pid) out.push_back(one);
  }
  return out;
}
// The brokers that this process has started.
std::vector<int> brokers() {
  std::vector<int> out;
  for (const int child : children_of(::getpid())) {
    if (name_of(child).rfind("bulkhead-ns-bro", 0) == 0) out.push_back(child);
  }
  return out;
}
// Whether `what` comes to hold within some seconds: only how long it takes is up to the machine.
template <class What>
bool soon(What what) {
  for (int i = 0; i < 3000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

int marked(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (std::atoi(entry.path().filename().c_str()) <= 0) continue;
    std::string line = text_of(entry.path() / "cmdline");
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find("sleep " + mark) != std::string::npos && line.find("sh -c") == std::string::npos) {
      ++count;
    }
  }
  return count;
}
std::string new_mark() {
  static int n = 0;
  return "7" + std::to_string(::getpid() % 1000000 + 1000000) + std::to_string(++n);
}
// Each starts one that is double-forked, one that ignores signals, and itself.
std::string stubborn(const std::string& mark) {
  return "(setsid setsid sleep " + mark + " &); (trap '' TERM INT HUP; sleep " + mark + " & sleep " +
         mark + ") & echo on; sleep " + mark;
}

}  // namespace

TEST_CASE("ns: an idle sandbox has no process but its broker") {
  BH_NEEDS("ns");
  Setting s("ns");
  const auto all = brokers();
  REQUIRE(all.size() == 1);
  CHECK(s.backend.sh("s1", "true").exit.exit_code == 0);
  // The one command that came first is over, and nothing was made ahead for it alone.
  CHECK(soon([&] { return children_of(all[0]).empty(); }));
}

TEST_CASE("ns: the next command's first process is made ahead, and is given up with the sandbox") {
  BH_NEEDS("ns");
  int broker = 0;
  {
    Setting s("ns");
    broker = brokers().at(0);
    for (int i = 0; i < 2; ++i) CHECK(s.backend.sh("s1", "true").exit.exit_code == 0);
    REQUIRE(soon([&] { return children_of(broker).size() == 1; }));
    const int ready = children_of(broker)[0];
    // It is this one that the next command gets: same parent's number, gone afterwards.
    Command c;
    c.argv = {"sh", "-c", "echo on; sleep 30"};
    bool same = false;
    c.beside = [&](testing::FakeCall& call) {
      while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(2ms);
      const auto inside = children_of(broker);
      same = std::find(inside.begin(), inside.end(), ready) != inside.end();
      call.stop();
    };
    CHECK(s.backend.run("s1", c).status == BH_CANCELLED);
    CHECK(same);
    CHECK(soon([&] { return parent_of(ready) == 0; }));
    CHECK(s.backend.destroy("s1") == BH_OK);
    CHECK(soon([&] { return children_of(broker).empty(); }));
  }
  CHECK(soon([&] { return name_of(broker).empty(); }));
}

TEST_CASE("ns: a broker that dies takes all along; that is told once, and all goes on") {
  BH_NEEDS("ns");
  Setting s("ns");
  const std::string mark = new_mark();
  CHECK(s.backend.sh("s1", "echo kept > kept; echo gone > /dev/shm/gone; cat /dev/shm/gone").out == "gone\n");
  Command c;
  c.argv = {"sh", "-c", stubborn(mark)};
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    CHECK(soon([&] { return marked(mark) == 4; }));
    ::kill(brokers().at(0), SIGKILL);
  };
  Ran ran = s.backend.run("s1", c);
  CHECK(ran.status == BH_OK);
  CHECK(ran.exit.reason == BH_EXIT_LOST);
  CHECK(soon([&] { return marked(mark) == 0; }));

  ran = s.backend.sh("s1", "true");
  CHECK(ran.status == BH_ABORTED);
  CHECK(ran.details.find("broker_lost") != std::string::npos);
  ran = s.backend.sh("s1", "cat kept; cat /dev/shm/gone || echo lost");
  CHECK(ran.out == "kept\nlost\n");
}

TEST_CASE("ns: a host that is killed leaves nothing running") {
  BH_NEEDS("ns");
  const std::string mark = new_mark();
  Folder folder;
  const std::string state = folder.make("state");
  const std::string work = folder.make("work");
  int up[2];
  REQUIRE(::pipe(up) == 0);
  const pid_t host = ::fork();
  if (host == 0) {
    ::close(up[0]);
    Backend backend("ns", state);
    if (backend.create("k1", R"({"workspace":{"source":)" + quote(work) + "}}") != BH_OK) ::_exit(1);
    Command c;
    c.id = "of-the-first-host";
    c.argv = {"sh", "-c", stubborn(mark)};
    c.beside = [&](testing::FakeCall& call) {
      while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
      const int broker = brokers().empty() ? 0 : brokers()[0];
      (void)!::write(up[1], &broker, sizeof broker);
    };
    (void)backend.run("k1", c);
    ::_exit(0);
  }
  ::close(up[1]);
  int broker = 0;
  REQUIRE(::read(up[0], &broker, sizeof broker) == static_cast<ssize_t>(sizeof broker));
  ::close(up[0]);
  CHECK(soon([&] { return marked(mark) == 4; }));
  CHECK(broker != 0);
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  CHECK(soon([&] { return marked(mark) == 0; }));
  CHECK(soon([&] { return name_of(broker).empty(); }));
  // Its sandbox is found by the next one, with its files, and is removed whole.
  Backend next("ns", state);
  REQUIRE(next.find("k1") == BH_OK);
  const Ran again = next.sh("k1", "echo again");
  INFO(again.message << again.details);
  CHECK(again.out == "again\n");
  CHECK(next.destroy("k1") == BH_OK);
  CHECK(next.list().empty());
}

TEST_CASE("ns: two processes use one sandbox, and either ends the commands of both") {
  BH_NEEDS("ns");
  Setting s("ns");
  Backend other("ns", s.backend.state());
  REQUIRE(other.find("s1") == BH_OK);
  CHECK(other.sh("s1", "echo mine > file; cat file").out == "mine\n");
  CHECK(s.backend.sh("s1", "cat file").out == "mine\n");
  Command c;
  c.id = "far";
  c.argv = {"sh", "-c", "trap 'echo heard; exit 7' USR1; echo on; while :; do sleep 0.05; done"};
  bh_status sent = BH_UNKNOWN;
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    sent = other.signal("s1", "far", SIGUSR1);
  };
  Ran ran = s.backend.run("s1", c);
  CHECK(sent == BH_OK);
  CHECK(ran.out == "on\nheard\n");
  c.id = "far2";
  c.argv = {"sh", "-c", "echo on; sleep 30"};
  c.beside = [&](testing::FakeCall& call) {
    while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
    CHECK(other.destroy("s1") == BH_OK);
  };
  ran = s.backend.run("s1", c);
  CHECK(ran.exit.reason == BH_EXIT_STOPPED);
  CHECK(s.backend.sh("s1", "true").status == BH_NOT_FOUND);
}

TEST_CASE("ns: no command has the kernel's id 0, and personas have ranges of their own") {
  BH_NEEDS("ns");
  auto kernel_id = [](const std::string& more) {
    Setting s("ns", more);
    Command c;
    c.argv = {"sh", "-c", "id -u; sleep 30"};
    std::string line;
    c.beside = [&](testing::FakeCall& call) {
      while (call.recorded().output[BH_STREAM_STDOUT].empty()) std::this_thread::sleep_for(5ms);
      // The command is a child of the first process, that is a child of the joiner.
      for (const int joiner : children_of(brokers().at(0))) {
        for (const int first : children_of(joiner)) {
          for (const int one : children_of(first)) line = text_of("/proc/" + std::to_string(one) + "/status");
        }
      }
      call.stop();
    };
    const Ran ran = s.backend.run("s1", c);
    const size_t at = line.find("Uid:");
    const unsigned long uid = at == std::string::npos ? 0 : std::strtoul(line.c_str() + at + 4, nullptr, 10);
    return std::pair(ran.out, uid);
  };
  const auto plain = kernel_id(R"(,"persona":"ann")");
  const auto zero = kernel_id(R"(,"persona":"ann","user":{"uid":0})");
  const auto bob = kernel_id(R"(,"persona":"bob")");
  CHECK(zero.first == "0\n");
  CHECK(zero.second != 0);
  if (::geteuid() != 0) {
    CHECK(plain.second == ::geteuid());
    CHECK(zero.second == ::geteuid());
    return;
  }
  CHECK(plain.first == "1000\n");
  CHECK(plain.second >= 0x72000000u);
  CHECK(plain.second % 65536 == 1000);
  CHECK(zero.second == plain.second - 1000);
  CHECK(bob.second / 65536 != plain.second / 65536);
}

TEST_CASE("ns: files keep their owner on the host, whoever made them inside") {
  BH_NEEDS("ns");
  Setting s("ns");
  // Inside they are the sandbox's user's, as the folder is.
  const std::string script = "echo x > made; mkdir folder; stat -c %u:%g made folder . | uniq; id -u; id -g";
  const std::string out = s.backend.sh("s1", script).out;
  const size_t first = out.find(':'), line = out.find('\n');
  REQUIRE(first != std::string::npos);
  CHECK(out.substr(line + 1) ==
        out.substr(0, first) + "\n" + out.substr(first + 1, line - first - 1) + "\n");
  struct stat st {};
  REQUIRE(::stat((s.work + "/made").c_str(), &st) == 0);
  CHECK(st.st_uid == ::geteuid());
  REQUIRE(::stat((s.work + "/folder").c_str(), &st) == 0);
  CHECK(st.st_uid == ::geteuid());
}

TEST_CASE("ns: a workspace that the host replaces is not taken for the one that was") {
  BH_NEEDS("ns");
  Folder folder;
  // Seen inside: a folder that the sandbox's user cannot pass would be an empty one of its own.
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const std::string work = folder.make("work"), other = folder.make("other");
  Backend backend("ns");
  REQUIRE(backend.create("s1", R"({"workspace":{"source":)" + quote(work) + "}}") == BH_OK);
  CHECK(backend.sh("s1", "echo x > file; cat file").out == "x\n");
  fs::rename(work, work + ".old");
  fs::create_symlink(other, work);
  const Ran ran = backend.sh("s1", "pwd -P");
  INFO(ran.out << ran.err << ran.message);
  CHECK(ran.status == BH_FAILED_PRECONDITION);
  CHECK(ran.details.find("\"workspace\"") != std::string::npos);
  // Back in its place it is the same as before.
  fs::remove(work);
  fs::rename(work + ".old", work);
  CHECK(backend.sh("s1", "cat file").out == "x\n");
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("ns: what tells of the machine is closed") {
  BH_NEEDS("ns");
  Setting s("ns");
  // The control, on the host: there is something to be told.
  REQUIRE(text_of("/proc/cmdline").size() > 1);
  double up = 0;
  std::ifstream("/proc/uptime") >> up;
  CHECK(s.backend.sh("s1", "cat /proc/cmdline /proc/kallsyms /proc/keys 2>/dev/null | wc -c").out == "0\n");
  CHECK(s.backend.sh("s1", "echo 1 2>/dev/null > /proc/sys/vm/drop_caches || echo no").out == "no\n");
  CHECK(s.backend.sh("s1", "hostname 2>/dev/null || cat /proc/sys/kernel/hostname").out == "sandbox\n");
  const double inside = std::atof(s.backend.sh("s1", "cut -d' ' -f1 /proc/uptime").out.c_str());
  CHECK(inside < up);
  CHECK(inside < 600);
  CHECK(s.backend.sh("s1", "cat /proc/sys/user/max_user_namespaces").out == "0\n");
  CHECK(s.backend.sh("s1", "unshare -U true 2>/dev/null || echo no").out == "no\n");
}

TEST_CASE("ns: twenty at once, made, used and ended beside each other") {
  BH_NEEDS("ns");
  Folder folder;
  Backend backend("ns");
  std::vector<std::string> works;
  for (int i = 0; i < 20; ++i) works.push_back(folder.make("w" + std::to_string(i)));
  std::vector<std::string> trouble(20);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 20; ++i) {
    threads.emplace_back([&, i] {
      const std::string id = "m" + std::to_string(i);
      testing::FakeCall call(backend.host());
      const std::string profile = R"({"persona":"p)" + std::to_string(i) + R"(","workspace":{"source":)" +
                                  quote(works[i]) + "}}";
      void* box = nullptr;
      const auto& table = backend.table();
      if (table.create(backend.self(), call.raw(), id.data(), id.size(), profile.data(), profile.size(),
                       &box) != BH_OK) {
        trouble[i] = call.recorded().message;
        return;
      }
      for (int k = 0; k < 5 && trouble[i].empty(); ++k) {
        testing::FakeCall run(backend.host());
        const std::string exec = "e" + std::to_string(k), text = "echo " + id + " > f; cat f";
        const bh_str argv[] = {sdk::str("sh"), sdk::str("-c"), sdk::str(text)};
        bh_exec what{};
        what.struct_size = sizeof what;
        what.id = sdk::str(exec);
        what.argv = argv;
        what.argc = 3;
        what.options = sdk::str("{}");
        bh_exit exit{};
        exit.struct_size = sizeof exit;
        if (table.exec(box, run.raw(), &what, &exit) != BH_OK ||
            run.recorded().output[BH_STREAM_STDOUT] != id + "\n") {
          trouble[i] = "exec: " + run.recorded().message + run.recorded().output[BH_STREAM_STDOUT];
        }
      }
      table.release(box);
      testing::FakeCall end(backend.host());
      if (table.destroy(backend.self(), end.raw(), id.data(), id.size()) != BH_OK) {
        trouble[i] += " destroy: " + end.recorded().message;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& one : trouble) CHECK(one == "");
  CHECK(backend.list().empty());
}
