// The backend `landlock`, tried from the inside: one case for each line of its report. What is
// refused there is done first where nothing is in the way.
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

#include "setting.h"

using namespace bh_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

#define BH_NEEDS_LANDLOCK                                      \
  do {                                                         \
    const std::string why = Backend("landlock").unavailable(); \
    if (!why.empty()) BH_SKIP("landlock: " + why);             \
  } while (false)

// A sandbox with the probe in its workspace, and the same without walls.
struct Walled {
  explicit Walled(const std::string& more = "") : in("landlock", more), out("process") {
    for (const auto& work : {in.work, out.work}) fs::copy_file(BH_WALL_PROBE, work + "/probe");
  }
  std::string inside(const std::string& object, const std::string& tries) {
    return in.backend.sh("s1", "./probe " + object + " " + tries).out;
  }
  std::string outside(const std::string& object, const std::string& tries) {
    return out.backend.sh("s1", "./probe " + object + " " + tries).out;
  }
  Setting in, out;
};

std::string all_same(const std::string& word, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += (i == 0 ? "" : " ") + word;
  return text + "\n";
}

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

// "mode links owner time" of a file, to see that nothing changed.
std::string facts(const std::string& path) {
  struct stat st {};
  REQUIRE(::lstat(path.c_str(), &st) == 0);
  return std::to_string(st.st_mode) + " " + std::to_string(st.st_nlink) + " " +
         std::to_string(st.st_uid) + " " + std::to_string(st.st_mtim.tv_sec);
}

const std::string kModes = "chmod fchmod fchmodat fchmodat2 chmod_by_descriptor";
const std::string kOwners = "chown lchown fchown fchownat";
const std::string kTimes =
    "utime utimes futimesat utimensat utimensat_link futimens utimensat_now";

}  // namespace

TEST_CASE("landlock walls: F15 a file that cannot be written keeps its mode, owner, times, flags") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string file = folder.write("file", "text"), free = w.out.folder.write("free", "text");
  const std::string before = facts(file);
  CHECK(w.outside(free, kModes) == all_same("ok", 5));
  CHECK(w.outside(free, kOwners) == all_same("ok", 4));
  CHECK(w.outside(free, kTimes) == all_same("ok", 7));
  for (const std::string& object : {file, folder.path()}) {
    CHECK(w.inside(object, kModes) == all_same("1", 5));
    CHECK(w.inside(object, kOwners) == all_same("1", 4));
    CHECK(w.inside(object, kTimes) == all_same("1", 7));
  }
  CHECK(w.inside(file, "setxattr fsetxattr removexattr") == all_same("95", 3));
  CHECK(w.inside(file, "setflags subvolume") == all_same("1", 2));
  CHECK(w.inside(file, "truncate write link_here move_here handle") == "13 13 18 13 1\n");
  CHECK(w.inside(file, "open_truncate") == "13\n");
  CHECK(w.inside(file, "read watch") == "ok ok\n");
  CHECK(facts(file) == before);
  // Through every other name of it.
  w.in.backend.sh("s1", "ln -s " + file + " link; ln -s /proc/self/cwd up");
  CHECK(w.inside("link", "chmod fchmodat2 utimensat chown") == all_same("1", 4));
  CHECK(w.inside("up/link", "chmod") == "40\n");
  CHECK(w.inside("/proc/self/root" + file, "chmod utimensat") == "40 40\n");
  CHECK(facts(file) == before);
  // Devices can be written to and stay what they are.
  CHECK(w.inside("/dev/null", "write chmod chown utimensat") == "ok 1 1 1\n");
}

TEST_CASE("landlock walls: what is the sandbox's own can be changed in every way") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  w.in.backend.sh("s1", "touch file; mkdir folder; ln -s file link");
  const std::string file = w.in.work + "/file", folder = w.in.work + "/folder";
  for (const std::string& object : {file, folder, w.in.work + "/link"}) {
    CHECK(w.inside(object, kModes) == all_same("ok", 5));
    CHECK(w.inside(object, kOwners) == all_same("ok", 4));
    CHECK(w.inside(object, kTimes) == all_same("ok", 7));
  }
  CHECK(w.inside("file", "chmod utimensat chown watch read write") == all_same("ok", 6));
  CHECK(facts(file).find(std::to_string(S_IFREG | 0711) + " ") == 0);
  CHECK(w.inside("missing", "chmod chown utimensat watch") == all_same("2", 4));
  // P15: but no file that runs as its owner.
  CHECK(w.in.backend.sh("s1", "chmod 4755 file; chmod 2755 file; stat -c %a file").out == "711\n");
  // As the owner of a file in the workspace decides, not the keeper.
  if (::geteuid() == 0) {
    REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
    CHECK(w.inside("file", "chmod chown") == "1 1\n");
  }
}

TEST_CASE("landlock walls: what is hidden cannot be read, listed, watched or moved") {
  BH_NEEDS_LANDLOCK;
  Folder data;
  ::chmod(data.path().c_str(), 0755);
  const std::string secret = data.write("other/secret", "text"), folder = data.path() + "/other";
  Walled w(R"(,"hide":[)" + quote(data.path()) + "]");
  CHECK(w.outside(secret, "read watch read_by_descriptor") == all_same("ok", 3));
  CHECK(w.inside(secret, "read watch read_by_descriptor write remove link_here move_here") ==
        "13 13 13 13 13 18 13\n");
  CHECK(w.inside(folder, "list watch") == "13 13\n");
  CHECK(w.inside(folder + "/new", "make") == "13\n");
  CHECK(w.inside(secret, kModes) == "1 9 1 1 1\n");
  CHECK(w.in.backend.sh("s1", "cat /proc/self/root" + secret + " || ls " + data.path() +
                                  " || cat /proc/1/root" + secret + " || echo nothing").out ==
        "nothing\n");
  CHECK(read(secret) == "text");
  // What the report says can be seen all the same.
  CHECK(w.in.backend.sh("s1", "stat -c %s " + secret).out == "4\n");
  CHECK(rule_status(w.in.backend.report, "isolation.hides") == "partial");

  // Two sandboxes of one backend, whose folders lie beside each other.
  REQUIRE(w.in.backend.create("s2", "{}") == BH_OK);
  const std::string theirs = w.in.backend.state() + "/s2/home";
  CHECK(w.in.backend.sh("s2", "echo mine > ~/f; cat ~/f").out == "mine\n");
  CHECK(w.in.backend.sh("s1", "cat " + theirs + "/f || ls " + theirs + " || ls " +
                                  w.in.backend.state() + " || echo nothing").out == "nothing\n");
  CHECK(w.in.backend.destroy("s2") == BH_OK);
}

TEST_CASE("landlock walls: keys in HOME") {
  BH_NEEDS_LANDLOCK;
  Folder home;
  home.write(".ssh/id_test", "key");
  home.write(".config/gh/hosts.yml", "key");
  home.write(".config/other", "text");
  ::chmod(home.path().c_str(), 0755);
  const std::string before = ::getenv("HOME") != nullptr ? ::getenv("HOME") : "";
  ::setenv("HOME", home.path().c_str(), 1);
  {
    Setting s("landlock");
    const Ran ran = s.backend.sh("s1", "cd " + home.path() + "; cat .config/other; for f in "
                                       ".ssh/id_test .config/gh/hosts.yml; do cat $f || echo no; "
                                       "done; ls .ssh .config || echo unlisted");
    CHECK(ran.out == "textno\nno\nunlisted\n");
  }
  ::setenv("HOME", before.c_str(), 1);
}

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

TEST_CASE("landlock walls: F20 the kernel's settings") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  for (const std::string path : {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                                 "/sys/kernel/uevent_helper", "/proc/self/oom_score_adj"}) {
    if (!exists(path)) continue;
    CAPTURE(path);
    CHECK(w.inside(path, "write") == "13\n");
  }
  for (const std::string path : {"/proc/cmdline", "/proc/kallsyms", "/proc/keys", "/dev/kmsg",
                                 "/proc/self/mountinfo", "/sys/fs/cgroup"}) {
    if (!exists(path)) continue;
    CAPTURE(path);
    CHECK(w.inside(path, "read") == "13\n");
  }
  CHECK(w.inside("/proc/meminfo", "read write") == "ok 13\n");
  CHECK(w.inside("/proc/sys/kernel/pid_max", "read write") == "ok 13\n");
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
        read(fs::directory_iterator(s.backend.state() + "/s1/run")->path().string()));
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
