// System calls: what leads out answers an error, never a kill.
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "row.h"

using namespace bh_test;

BH_ROW("P20", "no new namespaces") {
  row.calls_refused({"unshare_user", "unshare_net", "unshare_time", "clone_user", "setns"});
  row.attacks("refused", [](Cell& c) {
    c.spoken_of_by({"isolation.nested_users"});
    return Ways{{"user", "unshare -U true"},
                {"network", "unshare -Un true"},
                {"mount", "unshare -Um true"},
                {"bwrap", "command -v bwrap || exec unshare -Um true; bwrap --ro-bind / / true"}};
  });
}

BH_ROW("P21", "other numbers, other tables and other ways to the same call") {
  row.calls_refused({"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "openat2"});
  const auto& calls = row.calls();
  const auto& free = Row::free_calls();
  const std::string eperm = std::to_string(EPERM), enosys = std::to_string(ENOSYS);
  REQUIRE(calls.count("unknown") == 1);  // answered, not killed
  CHECK((calls.at("unknown") == enosys || calls.at("unknown") == eperm));
#ifdef __x86_64__
  CHECK((calls.at("x32_getpid") == eperm || calls.at("x32_getpid") == enosys));
  if (free.at("x32_getpid") != "ok") row.no_control("this kernel has no x32");
  // Without a 32-bit table the instruction itself ends the process.
  if (free.count("int80") == 0) {
    row.no_control("this kernel has no 32-bit table");
    CHECK(calls.count("int80") == 0);
  } else {
    CHECK(free.at("int80") == "ok");
    REQUIRE(calls.count("int80") == 1);
    CHECK(calls.at("int80") != "ok");
  }
#endif
  CHECK(calls.at("clone3") == enosys);  // so that libc goes back to what a filter can read
}

BH_ROW("P22", "calls for the machine's owner") {
  row.calls_refused({"keyctl",          "add_key",       "request_key", "bpf",
                     "perf_event_open", "userfaultfd",   "kexec_load",  "init_module",
                     "finit_module",    "delete_module", "ptrace",      "personality_norandomize",
                     "quotactl",        "acct",          "swapon",      "reboot",
                     "settimeofday",    "clock_settime", "syslog",      "fanotify_init"});
  row.note("reboot, kexec and their like are called with arguments that do nothing");
}

BH_ROW("A20", "calls and requests that deny lists forget") {
  row.calls_refused({"fanotify_init", "name_to_handle_at", "mount_setattr", "open_tree_attr",
                     "quotactl_fd", "syslog", "tiocsetd", "tiocsti", "tiocsti_high", "tioclinux",
                     "kcmp", "process_madvise", "process_vm_readv", "process_vm_writev",
                     "pidfd_getfd"});
}

BH_ROW("A21", "io_uring, userfaultfd, bpf, perf, keys and ptrace, each of them") {
  row.calls_refused({"io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf",
                     "perf_event_open", "keyctl", "add_key", "request_key", "ptrace"});
}

BH_ROW("A21", "the host's session keyring is not the sandbox's") {
  // A key that this process's own session has; possession gives the right to read it.
  const std::string seen = in_child([&]() -> std::string {
    const long ring = ::syscall(SYS_keyctl, 1 /* join a new session */, 0);
    if (ring < 0) return "no keys here";
    const std::string name = "bulkhead-" + fresh_mark();
    const long key = ::syscall(SYS_add_key, "user", name.c_str(), "secret", 6, -3);
    if (key < 0) return "no keys here";
    std::string out;
    for (const std::string& provider : {std::string("process"), row.backend()}) {
      Backend b(provider);
      if (b.create("s1", "{}") != BH_OK) return "create: " + b.message;
      const Ran ran = b.sh("s1", "grep -c " + name + " /proc/keys; exit 0");
      out += ran.out.substr(0, 1);
      (void)b.destroy("s1");
    }
    return out;
  });
  CAPTURE(seen);
  if (seen == "no keys here") BH_ROW_SKIP("this kernel keeps no keys for us");
  // A helper takes a session of its own also where nothing is isolated; then the file tells
  // nothing.
  if (seen.rfind("0", 0) == 0) row.no_control("no backend hands on the session");
  REQUIRE(seen.size() >= 1);
  CHECK((seen.size() == 1 || seen[1] == '0'));
  row.is("refused");
}

BH_ROW("A19", "the kernel itself refuses a nested user namespace, without any filter") {
  if (!row.has_mounts()) return row.not_applicable("no user namespace of its own");
  Cell cell(row.backend());
  REQUIRE(cell.make() == BH_OK);
  const std::string mark = fresh_mark();
  std::string seen;
  Command c;
  c.argv = {"sleep", mark};
  c.beside = [&](testing::FakeCall& call) {
    const std::string words = "sleep" + std::string(1, '\0') + mark;
    if (there(words)) {
      int pid = 0;
      for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        if (read("/proc/" + name + "/cmdline").rfind(words, 0) == 0) pid = std::stoi(name);
      }
      // From the host's side, where no filter is: into its namespace, and then one further.
      seen = in_child([&]() -> std::string {
        const int pidfd = static_cast<int>(::syscall(434, pid, 0));
        if (pidfd < 0 || ::setns(pidfd, CLONE_NEWUSER) != 0) return "join " + std::to_string(errno);
        return ::unshare(CLONE_NEWUSER) == 0 ? "ok" : std::to_string(errno);
      });
    }
    call.stop();
  };
  (void)cell.backend.run("s1", c);
  const std::string control =
      in_child([] { return std::string(::unshare(CLONE_NEWUSER) == 0 ? "ok" : "refused"); });
  CHECK(control == "ok");
  CAPTURE(seen);
  CHECK((seen == "ok" || seen == std::to_string(ENOSPC) || seen == std::to_string(EPERM)));
  const std::string by =
      cell.report.substr(std::min(cell.report.size(), cell.report.find("isolation.nested_users")));
  if (seen != "ok") return row.is("refused");
  // Where the filter alone refuses it, the report names nothing else.
  CHECK(by.substr(0, by.find('}')).find("max_user_namespaces") == std::string::npos);
  row.is("not enforced (told)");
  row.note("isolation.nested_users is enforced by the filter alone");
}
