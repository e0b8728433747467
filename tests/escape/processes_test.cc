// P rows: processes, resources, system calls, what a command inherits.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "escape.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Processes of this machine whose command line holds `mark`, without ourselves.
int processes_with(const std::string& mark) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name == std::to_string(::getpid())) continue;
    if (read("/proc/" + name + "/cmdline").find(mark) != std::string::npos) ++found;
  }
  return found;
}

bool gone(const std::string& mark) {
  for (int i = 0; i < 100; ++i) {
    if (processes_with(mark) == 0) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
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

}  // namespace

TEST_CASE("P1 a fork bomb meets its limit and is gone with its command") {
  BH_NEEDS_BWRAP;
  Cell cell(R"(,"limits":{"pids":40,"wall_ms":2500,"memory_bytes":268435456})");
  const Ran ran = cell.sh("cp probe bomb" + fresh_mark() + " && exec ./bomb* bomb");
  CHECK(ran.exit.reason == BH_EXIT_TIME);
  CHECK(cell.sh("echo on").out == "on\n");
}

TEST_CASE("P4 double-forked daemons end with the command") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const std::string mark = fresh_mark();
  const Ran ran =
      cell.sh("(setsid sh -c 'setsid sleep " + mark + " >/dev/null 2>&1 &' &); echo hi");
  CHECK(ran.out == "hi\n");
  CHECK((ran.exit.flags & BH_EXITED_LEFTOVERS) != 0);
  CHECK(processes_with(mark) == 0);
}

TEST_CASE("P5 nothing survives a host that was killed") {
  const std::string provider = GENERATE("bwrap", "process");
  const std::string why = Backend(provider).unavailable();
  if (!why.empty()) BH_SKIP(why);
  Backend backend(provider);
  REQUIRE(backend.create("s1", "{}") == BH_OK);
  const std::string mark = fresh_mark();
  const pid_t host = ::fork();
  if (host == 0) {
    (void)backend.sh("s1", "trap '' TERM INT HUP; (setsid setsid sleep " + mark + " &); sleep " +
                               mark + " & kill -STOP $$; sleep " + mark);
    ::_exit(0);
  }
  for (int i = 0; i < 200 && processes_with("sleep " + mark) + processes_with(mark) < 3; ++i) {
    std::this_thread::sleep_for(25ms);
  }
  REQUIRE(processes_with(mark) > 0);
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  CHECK(gone(mark));
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("P5 nothing survives a helper program that was killed") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const std::string mark = fresh_mark();
  REQUIRE(cell.make() == BH_OK);
  Command c;
  c.argv = {"sh", "-c", "sleep " + mark + " & sleep " + mark};
  c.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 200 && processes_with(mark) < 3; ++i) std::this_thread::sleep_for(25ms);
    std::istringstream line(
        read(fs::directory_iterator(cell.backend.state() + "/s1/run")->path().string()));
    int host = 0, helper = 0;
    unsigned long long started = 0;
    line >> host >> started >> helper;
    if (helper > 1) ::kill(helper, SIGKILL);
  };
  const Ran ran = cell.backend.run("s1", c);
  CHECK(ran.exit.reason == BH_EXIT_LOST);
  CHECK(gone(mark));
}

TEST_CASE("P5 a thread that ends takes nothing with it") {
  BH_NEEDS_BWRAP;
  Cell cell;
  REQUIRE(cell.make() == BH_OK);
  // The helper is started by a thread that is gone before the command ends, as the host's may be.
  Ran ran;
  std::thread([&] { ran = cell.backend.sh("s1", "sleep 0.2; echo done"); }).join();
  CHECK(ran.out == "done\n");
}

TEST_CASE("P7 a command that ignores every signal, or is stopped, ends all the same") {
  BH_NEEDS_BWRAP;
  Cell cell;
  REQUIRE(cell.make() == BH_OK);
  Command c;
  c.argv = {"./probe", "ignore"};
  c.beside = [&](testing::FakeCall& call) {
    for (int i = 0; i < 200 && call.out().empty(); ++i) std::this_thread::sleep_for(25ms);
    call.stop();
  };
  const Ran ran = cell.backend.run("s1", c);
  CHECK(ran.status == BH_CANCELLED);
  CHECK(ran.out == "ready\n");
}

TEST_CASE("P10 many commands leave no descriptor, process, folder or group") {
  BH_NEEDS_BWRAP;
  Cell cell;
  CHECK(cell.sh("true").exit.exit_code == 0);
  const int before = open_descriptors();
  for (int i = 0; i < 60; ++i) CHECK(cell.sh("true").exit.exit_code == 0);
  CHECK(open_descriptors() == before);
  CHECK(fs::is_empty(cell.backend.state() + "/s1/run"));
  int status = 0;
  CHECK((::waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD));
  struct stat folder {};
  REQUIRE(::stat(cell.backend.state().c_str(), &folder) == 0);
  const std::string mine =
      "bulkhead-test-s1-" + std::to_string(folder.st_dev) + "-" + std::to_string(folder.st_ino);
  std::error_code error;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it("/sys/fs/cgroup", skip, error), end; it != end;
       it.increment(error)) {
    CHECK(it->path().filename() != mine);
  }
}

TEST_CASE("P11 descriptors that the host left open do not pass") {
  const std::string provider = GENERATE("bwrap", "process");
  const std::string why = Backend(provider).unavailable();
  if (!why.empty()) BH_SKIP(why);
  const int secret = ::open("/etc/hostname", O_RDONLY);
  REQUIRE(::dup2(secret, 77) == 77);
  Backend backend(provider);
  REQUIRE(backend.create("s1", "{}") == BH_OK);
  const Ran ran = backend.sh("s1", "ls /proc/self/fd");
  CHECK(ran.out == "0\n1\n2\n3\n");
  // Nor do processes above the command hold any that it could reach.
  if (provider == "bwrap") {
    CHECK(
        backend.sh("s1", "for f in /proc/1/fd/*; do readlink $f; done; cat /proc/1/environ; exit 0")
            .out.empty());
  }
  CHECK(backend.destroy("s1") == BH_OK);
  ::close(77);
  ::close(secret);
}

TEST_CASE("P12 P13 the host's processes and environment are not there") {
  BH_NEEDS_BWRAP;
  ::setenv("BH_ESCAPE_SECRET", "secret", 1);
  Cell cell;
  const Ran ran = cell.sh("cat /proc/[0-9]*/environ; ls -d /proc/[0-9]* | wc -l; ls /proc/" +
                          std::to_string(::getpid()) + " && echo host; kill -9 -1; echo alive");
  CHECK(ran.out.find("secret") == std::string::npos);
  CHECK(ran.out.find("host\n") == std::string::npos);
  ::unsetenv("BH_ESCAPE_SECRET");
}

TEST_CASE("P14 there is no terminal of the host") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const Ran ran = cell.sh("(exec 3<>/dev/tty) 2>/dev/null && echo terminal; exit 0");
  CHECK(ran.out.empty());
  auto tried = cell.probe("calls");
  CHECK(tried["tiocsti"] == std::to_string(EPERM));
  CHECK(tried["tiocsti_high"] == std::to_string(EPERM));
}

TEST_CASE("P15 setuid programs get nothing") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("calls");
  CHECK(tried["capabilities"] != "ok");
  CHECK(tried["new_privileges"] != "ok");
  CHECK(cell.sh("grep NoNewPrivs /proc/self/status | tr -d '\\t'; grep CapEff /proc/self/status | "
                "tr -d '\\t'; grep Seccomp: /proc/self/status | tr -d '\\t'")
            .out == "NoNewPrivs:1\nCapEff:0000000000000000\nSeccomp:2\n");
}

TEST_CASE("P17 a question is never waited for") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const Ran ran = cell.sh("read answer || echo nothing");
  CHECK(ran.out == "nothing\n");
}

TEST_CASE("P19 shared memory segments of the host are not there") {
  BH_NEEDS_BWRAP;
  const int segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
  REQUIRE(segment >= 0);
  Cell cell;
  const Ran ran = cell.sh("wc -l < /proc/sysvipc/shm");
  ::shmctl(segment, IPC_RMID, nullptr);
  CHECK(ran.out == "1\n");
}

TEST_CASE("P20 P21 P22 system calls that lead out answer an error, never a kill") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("calls");
  const std::string eperm = std::to_string(EPERM);
  for (const char* name : {"unshare_user",
                           "unshare_net",
                           "unshare_time",
                           "clone_user",
                           "setns",
                           "ptrace",
                           "process_vm_readv",
                           "pidfd_getfd",
                           "keyctl",
                           "add_key",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "io_uring_setup",
                           "kexec_load",
                           "init_module",
                           "reboot",
                           "swapon",
                           "acct",
                           "quotactl",
                           "settimeofday",
                           "personality_norandomize",
                           "syslog",
                           "fanotify_init"}) {
    CAPTURE(name);
    CHECK(tried[name] == eperm);
  }
  CHECK(tried["clone3"] == std::to_string(ENOSYS));
#ifdef __x86_64__
  CHECK((tried["x32_getpid"] == eperm || tried["x32_getpid"] == std::to_string(ENOSYS)));
#endif
}

TEST_CASE("N14 N16 sockets") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("sockets");
  for (const char* name :
       {"vsock", "packet", "alg", "key", "bluetooth", "tipc", "raw", "netlink_audit"}) {
    CAPTURE(name);
    CHECK(tried[name] != "ok");
  }
  CHECK(tried["vsock"] == std::to_string(EPERM));
  CHECK(tried["local"] == "ok");
  CHECK(tried["pair"] == "ok");
}

TEST_CASE("N1 without a network nothing leaves, and loopback works") {
  BH_NEEDS_BWRAP;
  Cell cell(R"(,"network":{"mode":"off"})");
  const Ran ran = cell.sh(
      "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/route "
      "| wc -l; cat /sys/class/net/lo/operstate 2>/dev/null; exit 0");
  CHECK(ran.out.rfind("lo\n1\n", 0) == 0);
}
