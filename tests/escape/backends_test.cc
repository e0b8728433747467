// What a backend says where it cannot work: a typed refusal, never less than was asked for.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "row.h"

using namespace bh_test;
using namespace std::chrono_literals;

namespace {

// From here on this process and all that it starts have a kernel without user namespaces or, with
// `landlock`, without Landlock.
bool take_away(bool landlock) {
  constexpr auto kNumber = static_cast<unsigned>(offsetof(seccomp_data, nr));
  constexpr auto kFlags = static_cast<unsigned>(offsetof(seccomp_data, args));  // the lower half
  constexpr unsigned kUser = CLONE_NEWUSER;
  sock_filter namespaces[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUser, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444 /* landlock_create_ruleset */, 0, 1),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 447, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  sock_fprog program{};
  program.filter = landlock ? rules : namespaces;
  program.len = static_cast<unsigned short>(landlock ? std::size(rules) : std::size(namespaces));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What probe says, and what comes of a command that is run all the same.
std::string answers(const std::string& provider) {
  Folder state;
  std::string out;
  try {
    Backend backend(provider, state.path());
    out = backend.unavailable();
    if (out.empty()) out = "available";
    const bh_status made = backend.create("s1", "{}");
    const Ran ran = made == BH_OK ? backend.sh("s1", "echo ran") : Ran{};
    out += "\n" + ran.out;
    (void)backend.destroy("s1");
  } catch (const std::exception& error) {
    out += std::string(error.what()) + "\n";  // not even opened
  }
  return out;
}

}  // namespace

BH_ROW("P24", "a kernel without what the backend needs is told, and nothing runs") {
  const bool landlock = row.backend() == "landlock";
  const std::string control = in_child([&] { return answers(row.backend()); });
  CHECK(control == "available\nran\n");
  const std::string seen = in_child([&]() -> std::string {
    if (!take_away(landlock)) return "no filter";
    if (!landlock && ::unshare(CLONE_NEWUSER) == 0) return "not taken away";
    return answers(row.backend());
  });
  CAPTURE(seen);
  if (seen == "no filter") BH_ROW_SKIP("no filter can be set here");
  CHECK(seen.rfind("available", 0) != 0);
  CHECK(seen.find("ran\n") == std::string::npos);
  CHECK(seen.size() > 20);  // a sentence
  row.is("told");
}

BH_ROW("P25",
       "where /proc is masked, as in a container, the host's processes do not show through") {
  // Root's own mounts, or those of a user who is root in a namespace of its own.
  const bool root = row.as_root();
  if (!root) BH_ROW_SKIP("an ordinary user masks nothing in /proc of the backend's own");
  const std::string host = std::to_string(::getpid());
  const std::string backend = row.backend();
  const std::string seen = in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0) return "unshare";
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "private";
    if (::mount("none", "/proc/scsi", "tmpfs", MS_RDONLY, nullptr) != 0 &&
        ::mount("none", "/proc/acpi", "tmpfs", MS_RDONLY, nullptr) != 0 &&
        ::mount("none", "/proc/fs", "tmpfs", MS_RDONLY, nullptr) != 0) {
      return "mask";
    }
    std::string out;
    for (const std::string& provider : {std::string("process"), backend}) {
      Folder state;
      Backend b(provider, state.path());
      std::string why = b.unavailable();
      if (why.empty() && b.create("s1", "{}") == BH_OK) {
        out += "[" + b.sh("s1", "cat /proc/" + host + "/comm; echo ran").out + "]" +
               rule_status(b.report, "isolation.pid");
        (void)b.destroy("s1");
      } else {
        out += why.empty() ? "refused: " + b.message : "unavailable: " + why;
      }
    }
    return out;
  });
  CAPTURE(seen);
  const std::string control = "[escape_test\nran\n]unsupported";
  REQUIRE(seen.rfind(control, 0) == 0);
  const std::string inside = seen.substr(control.size());
  if (inside.find("escape_test\n") == std::string::npos) return row.is("refused");
  CHECK((inside.find("]partial") != std::string::npos ||
         inside.find("]unsupported") != std::string::npos));
  row.is("not enforced (told)");
  row.note("isolation.pid is not enforced");
}

BH_ROW("P28", "a program that hangs while it is probed holds up nobody") {
  if (row.backend() != "bwrap") return row.not_applicable("it asks no program of others");
  OpenFolder folder;
  const std::string hangs = folder.write("bwrap", "#!/bin/sh\nexec sleep 120\n");
  ::chmod(hangs.c_str(), 0755);
  const pid_t control = ::fork();
  if (control == 0) {
    ::execl(hangs.c_str(), "bwrap", "--help", nullptr);
    ::_exit(127);
  }
  const std::string config = R"({"bwrap":)" + quote(hangs) + "}";
  const auto started = std::chrono::steady_clock::now();
  std::string why;
  try {
    Backend backend("bwrap", {}, config);
    why = backend.unavailable();
  } catch (const std::exception& error) {
    why = error.what();
  }
  CHECK(why.find("does not answer") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - started < 40s);
  CHECK(::waitpid(control, nullptr, WNOHANG) == 0);
  ::kill(control, SIGKILL);
  ::waitpid(control, nullptr, 0);
  row.is("told");
}
