// The backend `landlock`, tried from the inside: sockets, processes, rights, older kernels, the
// end. What is refused there is done first where nothing is in the way.
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "landlock_setting.h"

using namespace bh_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// A server of the host's on a socket with that name.
struct LocalServer {
  LocalServer(const std::string& name, bool abstract) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd, 8) == 0);
    thread = std::thread([this] {
      for (int peer; (peer = ::accept(fd, nullptr, nullptr)) >= 0; ::close(peer)) {
        (void)!::write(peer, "y", 1);
      }
    });
  }
  ~LocalServer() {
    ::shutdown(fd, SHUT_RDWR);
    thread.join();
    ::close(fd);
  }
  int fd = -1;
  std::thread thread;
};

std::string fresh_mark() {
  static int n = 0;
  return std::to_string(100000 + ::getpid() % 100000) + "." + std::to_string(++n);
}
int processes_with(const std::string& mark) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string line = read(entry.path().string() + "/cmdline");
    if (line.find("sleep") != std::string::npos && line.find(mark) != std::string::npos) ++found;
  }
  return found;
}
bool gone(const std::string& mark) {
  for (int i = 0; i < 80 && processes_with(mark) > 0; ++i) std::this_thread::sleep_for(25ms);
  return processes_with(mark) == 0;
}

}  // namespace

TEST_CASE("landlock walls: N1 N14 N15 N22 sockets without a network") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  sockaddr_in name{};
  socklen_t size = sizeof name;
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
  REQUIRE(::listen(listener, 8) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size) == 0);
  const std::string port = std::to_string(ntohs(name.sin_port));
  CHECK(w.outside(port, "tcp") == "ok\n");
  CHECK(w.inside(port, "tcp") == "1\n");

  Folder folder("/var/tmp");
  ::chmod(folder.path().c_str(), 0755);
  const std::string path = folder.path() + "/agent", abstract = "bulkhead" + fresh_mark();
  const LocalServer by_path(path, false), by_name(abstract, true);
  ::chmod(path.c_str(), 0777);
  CHECK(w.outside(path, "connect") == "ok\n");
  CHECK(w.inside(path, "connect") == "13\n");
  w.in.backend.sh("s1", "ln -s " + path + " agent");
  CHECK(w.inside("agent", "connect") == "13\n");
  CHECK(w.outside(abstract, "connect_abstract") == "ok\n");
  CHECK(w.inside(abstract, "connect_abstract") == "1\n");
  // A server of its own, in its own folder.
  CHECK(w.inside("own", "serve") == "ok\n");
  CHECK(w.inside("none", "connect") == "2\n");

  Walled on(R"(,"network":{"mode":"unrestricted"})");
  CHECK(rule_status(on.in.backend.report, "network.mode") == "enforced");
  CHECK(on.inside(port, "tcp") == "ok\n");
  CHECK(on.inside(path, "connect") == "1\n");
  CHECK(on.inside(abstract, "connect_abstract") == "1\n");
  ::close(listener);
}

TEST_CASE("landlock walls: P12 P13 P19 other processes and what the machine shares") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  const pid_t other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string pid = std::to_string(other);
  const std::string tries =
      "signal thread_signal pidfd_signal limits priority processors io_priority process_read";
  CHECK(w.outside(pid, tries) == all_same("ok", 8));
  CHECK(w.inside(pid, tries) == all_same("1", 8));
  CHECK(w.outside(pid, "arguments variables") == "ok ok\n");
  CHECK(w.inside(pid, "arguments variables") == "13 13\n");
  CHECK(w.inside("1", "signal arguments") == "1 13\n");
  CHECK(w.inside("0", "limits priority processors user_priority") == "ok ok ok 1\n");
  CHECK(w.in.backend.sh("s1", "ls /proc || kill -9 -1; kill -0 " + pid + " || echo out of reach")
            .out == "out of reach\n");
  CHECK(::waitpid(other, nullptr, WNOHANG) == 0);
  CHECK(w.in.backend.sh("s1", "sleep 60 & kill $!; wait $!; echo $?").out == "143\n");
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);

  const key_t key = 0x42480000 + ::getpid() % 65536;
  const int segment = ::shmget(key, 4096, IPC_CREAT | 0600);
  REQUIRE(segment >= 0);
  CHECK(w.outside(std::to_string(key), "segment new_segment") == "ok ok\n");
  CHECK(w.inside(std::to_string(key), "segment new_segment") == "1 1\n");
  CHECK(w.inside("bulkhead", "queue") == "1\n");
  CHECK(w.inside("/dev/shm", "list") == "13\n");
  ::shmctl(segment, IPC_RMID, nullptr);
}

TEST_CASE("landlock walls: what older kernels leave open is kept by the filter and the keeper") {
  BH_NEEDS_LANDLOCK;
  const int version = GENERATE(1, 2, 3, 4, 5);
  const std::string config = R"({"version":)" + std::to_string(version) + "}";
  Backend backend("landlock", {}, config);
  if (!backend.unavailable().empty()) BH_SKIP(backend.unavailable());
  CAPTURE(version);
  Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string file = folder.write("file", "text"), work = folder.make("work");
  fs::copy_file(BH_WALL_PROBE, work + "/probe");
  REQUIRE(backend.create("s1", R"({"workspace":{"source":)" + quote(work) + "}}") == BH_OK);
  CHECK(rule_status(backend.report, "isolation.pid") == "enforced");
  auto inside = [&](const std::string& object, const std::string& tries) {
    return backend.sh("s1", "./probe " + object + " " + tries).out;
  };
  CHECK(inside(file, "truncate open_truncate") == (version < 3 ? "1 1\n" : "13 13\n"));
  CHECK(inside(file, "chmod utimensat write") == "1 1 13\n");
  CHECK(read(file) == "text");
  CHECK(inside(work, "chmod utimensat") == "ok ok\n");
  CHECK(backend.sh("s1", "echo x > a; mv a b; mkdir d; mv b d/c; cat d/c").out == "x\n");

  const pid_t other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string pid = std::to_string(other);
  CHECK(inside(pid, "signal thread_signal pidfd_signal limits") == "1 1 1 1\n");
  CHECK(inside("1", "signal thread_signal pidfd_signal") == "1 1 1\n");
  const std::string group = std::to_string(-::getpgid(other));
  CHECK(inside(group, "signal") != "ok\n");
  // Its own: itself, a child, a group, a thread's; and all of it at once.
  const Ran ran = backend.sh(
      "s1",
      "kill -0 $$ && echo self; sleep 60 & kill $!; wait $!; echo $?; "
      "setsid sh -c 'trap \"echo group; exit\" TERM; sleep 60 & wait' & sleep 0.3; "
      "kill -TERM -$!; wait $!; (trap 'echo all; exit' USR1; sleep 60 & wait) & sleep 0.3; "
      "trap '' USR1; kill -USR1 -1; wait; echo end");
  CHECK(ran.out == "self\n143\ngroup\nall\nend\n");
  CHECK(backend.sh("s1", "sh -c 'kill -9 $$'; echo $?; ./probe $$ thread_signal pidfd_signal; "
                         "kill -9 -1; echo on").out == "137\nok ok\non\n");
  CHECK(::waitpid(other, nullptr, WNOHANG) == 0);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("landlock walls: P11 P15 no descriptor and no right of the host's") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  const int left_open = ::open("/etc/passwd", O_RDONLY);
  CHECK(w.inside("descriptors", "") == "0\n");
  ::close(left_open);
  const std::string none = w.inside("capabilities", "");
  if (::geteuid() == 0) {
    CHECK(none == "0 0 0 0 0 0 1\n");
    CHECK(w.in.backend.sh("s1", "id -G").out == "0\n");
  } else {
    CHECK(none.substr(0, 10) == "0 0 0 0 0 ");
    CHECK(none.substr(none.size() - 3) == " 1\n");
  }
  // What only root may read, also where commands have its id.
  CHECK(w.in.backend.sh("s1", "cat /etc/shadow || echo no").out == "no\n");
}

TEST_CASE("landlock walls: P12 no mount shows the host's processes, and /etc no deep key") {
  BH_NEEDS_LANDLOCK;
  if (::geteuid() != 0) BH_SKIP("mounting takes root");
  Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string proc = folder.make("proc"), told = folder.path() + "/told";
  // With mounts of its own, which go with it.
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("proc", proc.c_str(), "proc", 0, nullptr) == 0 &&
                         ::mount("none", "/etc/skel", "tmpfs", 0, "mode=755") == 0;
    if (!mounted) ::_exit(2);
    fs::create_directories("/etc/skel/a/b");
    std::ofstream("/etc/skel/a/b/key") << "key";
    std::ofstream("/etc/skel/a/b/open") << "open";
    ::chmod("/etc/skel/a/b/key", 0600);
    const std::string script = "cat " + proc + "/self/comm " + proc +
                               "/1/comm; ls " + proc + "; cat /etc/skel/a/b/key /etc/skel/a/b/open";
    std::string all;
    for (const char* provider : {"process", "landlock"}) {
      Backend backend(provider);
      if (backend.create("s1", "{}") != BH_OK) ::_exit(3);
      const std::string out = backend.sh("s1", script).out;
      all += out.size() > 20 ? "much\n" : out + "\n";
      (void)backend.destroy("s1");
    }
    std::ofstream(told) << all;
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WEXITSTATUS(status) == 2) BH_SKIP("nothing can be mounted here");
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(read(told) == "much\nopen\n");
}

TEST_CASE("landlock walls: P4 P5 P7 nothing outlives a command, its helper or the host") {
  BH_NEEDS_LANDLOCK;
  Setting s("landlock");
  const std::string left = fresh_mark();
  const std::string tree = "trap '' TERM INT HUP; (setsid setsid sleep MARK &); (sleep MARK &); "
                           "sleep MARK & ";
  auto script = [&](const std::string& mark, const std::string& end) {
    std::string text = tree;
    for (size_t at; (at = text.find("MARK")) != std::string::npos;) text.replace(at, 4, mark);
    return text + end;
  };
  CHECK(s.backend.sh("s1", script(left, "echo done")).out == "done\n");
  CHECK(gone(left));

  auto helper_of = [&] {
    std::istringstream line(
        fs::read_symlink(*fs::directory_iterator(s.backend.state() + "/s1/run")).string());
    int host = 0, helper = 0;
    unsigned long long started = 0;
    line >> host >> started >> helper;
    return helper;
  };
  auto child_of = [](int pid) {
    const std::string proc = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
    return std::atoi(read(proc + "/children").c_str());
  };
  for (const std::string victim : {"launcher", "init"}) {
    CAPTURE(victim);
    const std::string mark = fresh_mark();
    Command c;
    c.argv = {"sh", "-c", script(mark, "sleep " + mark)};
    c.beside = [&](testing::FakeCall&) {
      for (int i = 0; i < 200 && processes_with(mark) < 4; ++i) std::this_thread::sleep_for(25ms);
      const int helper = helper_of();
      const int pid = victim == "init" ? child_of(helper) : helper;
      if (pid > 1) ::kill(pid, SIGKILL);
    };
    const Ran ran = s.backend.run("s1", c);
    CHECK(ran.exit.reason == BH_EXIT_LOST);
    CHECK(gone(mark));
  }

  const std::string mark = fresh_mark();
  const pid_t host = ::fork();
  if (host == 0) {
    (void)s.backend.sh("s1", script(mark, "kill -STOP $$; sleep " + mark));
    ::_exit(0);
  }
  for (int i = 0; i < 200 && processes_with(mark) < 3; ++i) std::this_thread::sleep_for(25ms);
  CHECK(processes_with(mark) >= 3);
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  CHECK(gone(mark));
}
