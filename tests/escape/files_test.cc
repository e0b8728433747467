// F rows: files that must not be read, written, or made.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "escape.h"

using namespace bh_test;
namespace fs = std::filesystem;

namespace {
std::string rule(const std::string& path, const std::string& access) {
  return R"({"path":)" + quote(path) + R"(,"access":")" + access + "\"}";
}
}  // namespace

TEST_CASE("F1 nothing is made on the host through a link in the workspace") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const std::string outside = cell.folder.make("outside");
  ::symlink(outside.c_str(), (cell.work + "/out").c_str());
  ::symlink(("/oldroot" + outside).c_str(), (cell.work + "/old").c_str());
  for (const std::string path : {"/out/made", "/old/made", "/out", "/old"}) {
    for (const std::string& more :
         {R"(,"mounts":[{"source":"/usr/bin","path":)" + quote(cell.work + path) + "}]",
          R"(,"files":[)" + rule(cell.work + path, "hide") + "]"}) {
      CAPTURE(path, more);
      cell.more_ = more;
      CHECK(cell.make() == BH_FAILED_PRECONDITION);
      CHECK(cell.backend.destroy("s1") == BH_OK);
      CHECK(fs::is_empty(outside));
    }
  }
}

TEST_CASE("F3 a protected folder cannot be moved out of the way") {
  BH_NEEDS_BWRAP;
  Cell cell;
  cell.folder.write("work/.git/hooks/pre-commit", "good");
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/.git/hooks", "ro") + "]";
  const Ran ran = cell.sh(
      "mv .git .git2 && echo moved; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit && echo "
      "written; rm -rf .git 2>/dev/null; echo fine > .git/index && cat .git/index");
  CHECK(ran.out == "fine\n");
  CHECK(ran.err.find("busy") != std::string::npos);
  CHECK(read(cell.work + "/.git/hooks/pre-commit") == "good");
}

TEST_CASE("F4 protecting what does not exist leaves nothing on the host, and is told") {
  BH_NEEDS_BWRAP;
  Cell cell;
  std::string rules;
  for (const std::string name : {".mcp.json", ".vscode/tasks.json", ".envrc", ".git/hooks"}) {
    rules += (rules.empty() ? "" : ",") + rule(cell.work + "/" + name, "ro");
  }
  cell.more_ = R"(,"files":[)" + rules + "]";
  REQUIRE(cell.make() == BH_OK);
  CHECK(rule_status(cell.backend.report, "files:" + cell.work + "/.mcp.json") == "partial");
  CHECK(cell.sh("ls -A").out == "probe\n");
  CHECK(std::distance(fs::directory_iterator(cell.work), fs::directory_iterator()) == 1);

  // From the next command on it holds: what was made meanwhile is protected.
  CHECK(cell.sh("echo made > .envrc").exit.exit_code == 0);
  CHECK(cell.sh("echo changed > .envrc").exit.exit_code != 0);
  // A link in its place neither leads the mount elsewhere nor stops all further commands.
  CHECK(cell.sh("ln -s /etc/passwd .mcp.json && ls -A | wc -l").exit.exit_code == 0);
  CHECK(cell.sh("echo on").out == "on\n");
}

TEST_CASE("F4 a workspace below /tmp or HOME leaves no mount points in the persona's folders") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work"), tmp = folder.make("tmp"), home = folder.make("home");
  folder.write("tmp/kept", "x");
  Backend backend("bwrap");
  const auto profile = [&](const std::string& inside) {
    return R"({"workspace":{"source":)" + quote(work) + R"(,"path":)" + quote(inside) +
           R"(},"tmp":{"source":)" + quote(tmp) + R"(},"home":{"source":)" + quote(home) +
           R"(,"path":"/home/agent"}})";
  };
  REQUIRE(backend.create("s1", profile("/tmp/a/b/work")) == BH_OK);
  REQUIRE(backend.create("s2", profile("/home/agent/project")) == BH_OK);
  // While one command runs, another of the same folders ends: what the first stands on must stay.
  std::string seen[2];
  Command slow;
  slow.argv = {"sh", "-c",
               "echo on; : > began; until [ -e go ]; do sleep 0.02; done; echo 1 > "
               "/tmp/a/b/work/one && cat one"};
  slow.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 500 && !exists(work + "/began"); ++i) ::usleep(20000);
    Backend other("bwrap", backend.state());
    (void)other.find("s1");
    for (std::string& one : seen) one = other.sh("s1", "pwd").out;
    folder.write("work/go", "");
  };
  CHECK(backend.run("s1", slow).out == "on\n1\n");
  for (const std::string& one : seen) CHECK(one == "/tmp/a/b/work\n");
  CHECK(backend.sh("s2", "echo 2 > two; pwd").out == "/home/agent/project\n");
  CHECK(read(work + "/one") == "1\n");
  CHECK(read(work + "/two") == "2\n");
  CHECK(std::distance(fs::directory_iterator(tmp), fs::directory_iterator()) == 1);
  CHECK(fs::is_empty(home));
  // What the sandbox put beside its workspace is its own, with the folder that holds it.
  CHECK(backend.sh("s1", "echo x > /tmp/a/mine").exit.exit_code == 0);
  CHECK(exists(tmp + "/a/mine"));
  CHECK_FALSE(exists(tmp + "/a/b"));
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(backend.destroy("s2") == BH_OK);
}

TEST_CASE("F4 no ghost files after the host was killed") {
  BH_NEEDS_BWRAP;
  Cell cell;
  cell.folder.write("work/keep/file", "x");
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/keep/file", "hide") + "," +
               rule(cell.work + "/absent", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  const pid_t host = ::fork();
  if (host == 0) {
    (void)cell.backend.sh("s1", "sleep 300");
    ::_exit(0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(read(cell.work + "/keep/file") == "x");
  CHECK(std::distance(fs::directory_iterator(cell.work), fs::directory_iterator()) == 2);
}

TEST_CASE("F7 keys in HOME are hidden, by whatever path") {
  BH_NEEDS_BWRAP;
  Folder home;
  home.write(".ssh/id_ed25519", "KEY");
  home.write(".aws/credentials", "KEY");
  home.write(".netrc", "KEY");
  home.write("plain/seen", "seen");
  ::chmod(home.path().c_str(), 0755);
  const char* before = ::getenv("HOME");
  const std::string old = before != nullptr ? before : "";
  ::setenv("HOME", home.path().c_str(), 1);
  {
    Cell cell;
    ::link((home.path() + "/.netrc").c_str(), (cell.work + "/not-a-rule").c_str());
    ::unlink((cell.work + "/not-a-rule").c_str());
    const std::string h = home.path();
    const Ran ran = cell.sh("cat " + h + "/plain/seen; cat " + h + "/.ssh/id_ed25519 " + h +
                            "/.aws/credentials " + h + "/.netrc /proc/self/root" + h +
                            "/.ssh/id_ed25519 /proc/1/root" + h + "/.ssh/id_ed25519 /proc/1/cwd/" +
                            h + "/.ssh/id_ed25519; ln " + h + "/.netrc stolen; cat stolen; exit 0");
    CHECK(ran.out == "seen");
  }
  ::setenv("HOME", old.c_str(), 1);
}

TEST_CASE("F7 shadow and other people's files stay closed") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const Ran ran = cell.sh("cat /etc/shadow /etc/gshadow; ls /root/.ssh /root/.bashrc; exit 0");
  CHECK(ran.out.empty());
}

TEST_CASE("F7 our lines in /etc/passwd do not show what a profile hides or replaces") {
  BH_NEEDS_BWRAP;
  Cell hidden(R"(,"files":[)" + rule("/etc/passwd", "hide") + "]");
  CHECK(hidden.sh("cat /etc/passwd; exit 0").out.empty());
  CHECK(rule_status(hidden.backend.report, "files:/etc/passwd") == "enforced");

  Cell whole(R"(,"files":[)" + rule("/etc", "hide") + "]");
  CHECK(whole.sh("ls -A /etc; exit 0").out.empty());

  Folder folder;
  folder.write("names", "someone:x:1000:1000::/:/bin/sh\n");
  Cell replaced(R"(,"mounts":[{"source":)" + quote(folder.path() + "/names") +
                R"(,"path":"/etc/passwd","access":"ro"}])");
  CHECK(replaced.sh("cat /etc/passwd").out == "someone:x:1000:1000::/:/bin/sh\n");

  Cell plain;  // where the profile says nothing there is a line for the sandbox's own user
  CHECK(plain.sh("id -un").exit.exit_code == 0);
}

TEST_CASE("F8 a hidden file with another hard link is reported, not promised") {
  BH_NEEDS_BWRAP;
  Cell cell;
  cell.folder.write("work/.env", "KEY");
  ::link((cell.work + "/.env").c_str(), (cell.work + "/notes").c_str());
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/.env", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  CHECK(rule_status(cell.backend.report, "files:" + cell.work + "/.env") == "partial");
}

TEST_CASE("F9 F15 read-only means no link, mode, owner, time or attribute either") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const std::string ro = cell.folder.write("ro/file", "x");
  cell.more_ =
      R"(,"mounts":[{"source":)" + quote(cell.folder.path() + "/ro") + R"(,"path":"/mnt"}])";
  const Ran ran = cell.sh(
      "f=/mnt/file; test -e $f && echo there; ln $f here && echo linked; chmod 777 $f && echo "
      "mode; "
      "touch -d 2001-01-01 $f && echo time; chown 1 $f && echo owner; mv $f /mnt/g && echo moved; "
      "echo y > $f && echo written; rm -f $f && echo removed; exit 0");
  CHECK(ran.out == "there\n");
  CHECK(read(ro) == "x");
}

TEST_CASE("F12 a path that changes between look and mount never leads outside") {
  BH_NEEDS_BWRAP;
  Cell cell;
  const std::string outside = cell.folder.make("outside");
  cell.folder.write("work/x/secret", "hidden");
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/x/secret", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  std::atomic<bool> end{false};
  // Beside the sandbox, as another sandbox on the same workspace could.
  std::thread racer([&] {
    const std::string x = cell.work + "/x", link = cell.work + "/x.link";
    ::symlink(outside.c_str(), link.c_str());
    while (!end) ::renameat2(AT_FDCWD, link.c_str(), AT_FDCWD, x.c_str(), RENAME_EXCHANGE);
  });
  for (int i = 0; i < 25; ++i) {
    // Either the set-up is refused, or the rule holds for what stands at its path just then.
    const Ran ran = cell.sh("echo ran; echo x > x/made");
    CHECK((ran.status == BH_FAILED_PRECONDITION || ran.out == "ran\n"));
  }
  end = true;
  racer.join();
  CHECK(fs::is_empty(outside));
}

TEST_CASE("F16 F17 F18 F19 mounts, devices and handles") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("calls");
  REQUIRE(tried.size() > 30);
  for (const char* name :
       {"mount", "remount_rw", "umount", "pivot_root", "chroot", "fsopen", "open_tree_clone",
        "mount_setattr", "open_by_handle_at", "mknod_device"}) {
    CAPTURE(name);
    CHECK(tried[name] == std::to_string(EPERM));
  }
  const Ran ran = cell.sh("ls /dev; mount -o remount,rw / 2>/dev/null && echo remounted");
  for (const char* name : {"kmsg", "mem", "fuse", "vsock", "kvm", "vda", "sda", "remounted"}) {
    CAPTURE(name);
    CHECK(ran.out.find(std::string(name) + "\n") == std::string::npos);
  }
  CHECK(ran.out.find("null\n") != std::string::npos);
}

TEST_CASE("F20 the kernel's settings cannot be opened for writing") {
  BH_NEEDS_BWRAP;
  Cell cell;
  for (const std::string path :
       {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/panic_on_oom",
        "/proc/sys/kernel/sysrq", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity",
        "/sys/kernel/uevent_helper", "/sys/power/state",
        "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    CAPTURE(path);
    if (!exists(path)) continue;
    CHECK(cell.probe("write " + path)["write"] != "ok");
  }
}

TEST_CASE("F22 F23 tmp and shared memory are private, writable and limited") {
  BH_NEEDS_BWRAP;
  Folder host("/tmp");
  Cell cell(R"(,"limits":{"memory_bytes":67108864})");
  const Ran ran = cell.sh(
      "ls -d " + host.path() +
      " 2>/dev/null; echo x > /tmp/f && echo x > /dev/shm/f && echo both; "
      "echo $TMPDIR; touch /dev/f 2>/dev/null && echo dev; df -k /dev/shm | tail -1 | tr -s ' ' | "
      "cut -d' ' -f2");
  CHECK(ran.out == "both\n/tmp\n32768\n");
}

TEST_CASE("F25 the working folder never widens what can be written") {
  BH_NEEDS_BWRAP;
  Cell cell;
  REQUIRE(cell.make() == BH_OK);
  const Ran ran = cell.backend.sh("s1", "pwd; touch x 2>/dev/null && echo written; exit 0",
                                  R"({"cwd":"/usr"})");
  CHECK(ran.out == "/usr\n");
}

TEST_CASE("N15 agent sockets and /run are out of reach") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string path = folder.path() + "/agent";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, 1) == 0);
  ::chmod(path.c_str(), 0777);
  ::chmod(folder.path().c_str(), 0755);
  {
    Cell seen;  // nothing tells that it is an agent's: this is what is prevented below
    CHECK(seen.probe("reach " + path)["reach"] == "ok");
  }
  ::setenv("SSH_AUTH_SOCK", path.c_str(), 1);
  {
    Cell cell;
    CHECK(cell.probe("reach " + path)["reach"] != "ok");
    CHECK(cell.sh("ls -A /run /var/run/; exit 0").out == "/run:\n\n/var/run/:\n");
  }
  ::unsetenv("SSH_AUTH_SOCK");
  ::close(fd);
}
