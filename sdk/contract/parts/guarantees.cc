// The backend's own guarantees, isolation.*, each by an attempt that works outside.
#include <signal.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

void processes(Try& t) {
  // A process of the host's, which is looked for from outside and from inside.
  const std::string token = new_token();
  const std::string half = token.substr(0, 10), rest = token.substr(10);
  Box box(t), other(t);
  if (!guaranteed(t, box.report(), "isolation.pid")) return;
  Running hosts = other.start(other.probe_command({"linger", token}));
  t.require(hosts.says("lingers"), "the other sandbox's command does not start");
  control(t, run_outside({t.backend.probe(), "find", half, rest}).code == 0,
          "it is not found from outside");
  const Ran ran = box.probe({"find", half, rest});
  t.expect(ran.ok() && ran.exit.exit_code == 1, "a process outside is to be seen: " + ran.told());
  hosts.call().stop(BH_CANCELLED);
  (void)hosts.wait(kStopped);
  // This very process.
  const Ran suite = box.sh("tr '\\0' ' ' < /proc/" + std::to_string(::getpid()) + "/cmdline");
  const std::string mine = read_file("/proc/self/cmdline");
  t.expect(suite.out.empty() || suite.out.substr(0, 20) != mine.substr(0, 20),
           "the host's own process is to be seen: " + suite.told());
}

void capabilities(Try& t) {
  Folder folder(t.backend.scratch());
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.capabilities")) return;
  const Ran status = box.sh("grep CapEff /proc/self/status");
  if (status.exited(0)) {
    const auto set = std::strtoull(status.out.c_str() + status.out.find(':') + 1, nullptr, 16);
    // sys_module 16, sys_rawio 17, sys_ptrace 19, sys_admin 21, sys_boot 22, sys_time 25, mknod 27,
    // net_admin 12, net_raw 13, bpf 39, perfmon 38, mac_admin 33.
    for (const int bit : {12, 13, 16, 17, 19, 21, 22, 25, 27, 33, 38, 39}) {
      t.expect((set >> bit & 1) == 0, "a command has the capability " + std::to_string(bit));
    }
  }
  int controls = 0;
  for (const char* what : {"mount", "mknod", "raw"}) {
    const std::string place = folder.make(what);
    if (run_outside({t.backend.probe(), "privileged", what, place}).code == 0) ++controls;
    const Ran ran = box.probe({"privileged", what, box.workspace()});
    t.expect(ran.ok() && ran.exit.exit_code == 1,
             std::string(what) + " works inside: " + ran.told());
  }
  if (controls == 0) t.note("none of the attempts works outside either: run it as root too");
}

void seccomp(Try& t) {
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.seccomp")) return;
  const Ran ran = box.sh("grep '^Seccomp:' /proc/self/status; grep NoNewPrivs /proc/self/status");
  if (!ran.exited(0)) Try::skip("no /proc inside: " + ran.told());
  control(
      t, status_field(::getpid(), "Seccomp") == "0" || !status_field(::getpid(), "Seccomp").empty(),
      "the kernel does not tell");
  t.expect(ran.out.find("Seccomp:\t2") != std::string::npos,
           "no filter is on the command: " + ran.out);
  t.expect(ran.out.find("NoNewPrivs:\t1") != std::string::npos,
           "no_new_privs is not set: " + ran.out);
}

void nested_users(Try& t) {
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.nested_users")) return;
  if (run_outside({t.backend.probe(), "user_namespace"}).code != 0) {
    t.note("user namespaces cannot be made outside either");
  }
  const Ran ran = box.probe({"user_namespace"});
  t.expect(ran.ok() && ran.exit.exit_code == 1,
           "a user namespace can be made inside: " + ran.told());
}

void ipc(Try& t) {
  const int key = 0x42000000 + static_cast<int>(::getpid() & 0xffffff);
  const int id = ::shmget(key, 4096, IPC_CREAT | 0666);
  if (id < 0) Try::skip("this machine has no System V shared memory");
  const std::shared_ptr<void> remover(nullptr, [id](void*) { ::shmctl(id, IPC_RMID, nullptr); });
  control(t, run_outside({t.backend.probe(), "shared_memory", std::to_string(key)}).code == 0,
          "the segment is not reached from outside");
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.ipc")) return;
  const Ran ran = box.probe({"shared_memory", std::to_string(key)});
  t.expect(ran.ok() && ran.exit.exit_code == 1,
           "shared memory of the host's is reached: " + ran.told());
}

void end(Try& t) {
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.end")) return;
  const std::string outside = new_token();
  (void)run_outside({t.backend.probe(), "daemon", outside});
  const pid_t stays = appears(outside, seconds(2));
  const bool lives = stays > 0 && !all_gone(outside, milliseconds(300));
  if (stays > 0) ::kill(stays, SIGKILL);
  control(t, lives, "a daemon does not outlive its command outside either");
  const std::string token = new_token();
  t.require(box.probe({"daemon", token}).exited(0), "the daemon does not start inside");
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)), "a daemon outlives its sandbox");
}

// Lines that no check here knows: honest as far as words go.
void others(Try& t) {
  Box box(t);
  std::string untried;
  for (const Line& line : box.report().lines()) {
    if (line.rule.rfind("isolation.", 0) != 0) continue;
    t.expect(!line.enforced() || !line.by.empty(),
             line.rule + " is enforced by nothing that is named");
    static const char* const kTried[] = {"pid",          "capabilities", "seccomp",
                                         "nested_users", "ipc",          "end",
                                         "hides",        "kernel_uid",   "abstract_sockets"};
    bool tried = false;
    for (const char* one : kTried) tried = tried || line.rule == std::string("isolation.") + one;
    if (!tried && line.enforced()) untried += (untried.empty() ? "" : ", ") + line.rule;
  }
  if (!untried.empty()) t.note("enforced by its own word, not tried here: " + untried);
}

}  // namespace

void add_guarantees(Suite& s) {
  s.add("isolation.pid", "processes outside are not to be seen", processes);
  s.add("isolation.capabilities", "what takes a dangerous capability does not work", capabilities);
  s.add("isolation.seccomp", "a filter and no_new_privs are on every command", seccomp);
  s.add("isolation.nested_users", "no user namespace can be made inside", nested_users);
  s.add("isolation.ipc", "shared memory of the host is out of reach", ipc);
  s.add("isolation.end", "nothing outlives its sandbox", end);
  s.add("isolation.others", "what is enforced names its means", others);
}

}  // namespace bulkhead::sdk::contract
