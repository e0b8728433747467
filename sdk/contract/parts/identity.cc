// Environment, user and persona.
#include <unistd.h>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

constexpr char kShow[] =
    "printf '%s|%s|%s' \"${BULKHEAD_CONTRACT_ALLOWED-none}\" "
    "\"${BULKHEAD_CONTRACT_PREFIX_ONE-none}\" "
    "\"${BULKHEAD_CONTRACT_SECRET-none}\"";

void allow(Try& t) {
  needs_key(t, "env.allow");
  json::object profile;
  profile["env"] = json::object(
      {{"allow", json::array({"BULKHEAD_CONTRACT_ALLOWED", "BULKHEAD_CONTRACT_PREFIX_*"})}});
  Box box(t, profile);
  if (!promised(t, box.report(), "env.allow")) return;
  t.equal("what passes of the host's environment", box.sh(kShow).out, "passes|by prefix|none");
  json::object all;
  all["env"] = json::object({{"allow", json::array({"BULKHEAD_CONTRACT_*"})}});
  Box open(t, all);
  t.equal("what passes with a wide rule", open.sh(kShow).out, "passes|by prefix|stays");
}

void set(Try& t) {
  needs_key(t, "env.set");
  const std::string odd = "a  b\n'\"$x \xc3\xa9=";
  json::object profile;
  profile["env"] = json::object({{"set", json::object({{"ODD", odd}})}});
  Box box(t, profile);
  if (!promised(t, box.report(), "env.set")) return;
  t.equal("a variable of the profile", box.sh("printf %s \"$ODD\"").out, odd);
  if (!t.backend.plugin().exec.lists("env")) return;
  t.equal("the same, where the command sets it too",
          box.sh("printf %s \"$ODD\"", {{"env", json::object({{"ODD", "mine"}})}}).out, "mine");
}

void user(Try& t) {
  needs_key(t, "user");
  json::object wanted;
  for (const char* key : {"uid", "gid"}) {
    if (t.backend.plugin().profile.lists(std::string("user.") + key)) wanted[key] = 1234;
  }
  if (t.backend.plugin().profile.lists("user.name")) wanted["name"] = "someone";
  json::object profile;
  profile["user"] = wanted;
  Box box(t, profile);
  Box plain(t);
  for (const auto& [key, command, value] : {std::tuple("uid", "id -u", "1234\n"),
                                            {"gid", "id -g", "1234\n"},
                                            {"name", "id -un", "someone\n"}}) {
    if (wanted.if_contains(key) == nullptr) continue;
    if (!promised(t, box.report(), std::string("user.") + key)) continue;
    t.equal(std::string("the user's ") + key, box.sh(command).out, value);
    control(t, plain.sh(command).out != value, "it is the same without the rule");
  }
}

void kernel_uid(Try& t) {
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.kernel_uid")) return;
  const std::string token = new_token();
  Running running = box.start(box.probe_command({"linger", token}));
  t.require(running.says("lingers"), "the command does not start");
  const pid_t pid = appears(token, seconds(5));
  const std::string uids = pid > 0 ? status_field(pid, "Uid") : "";
  const std::string groups = pid > 0 ? status_field(pid, "Groups") : "";
  running.call().stop(BH_CANCELLED);
  (void)running.wait(kStopped);
  if (uids.empty()) Try::skip("its processes are not to be seen from here");
  t.expect(uids.rfind("0\t", 0) != 0, "the kernel's id of a command is 0: Uid " + uids);
  t.expect((" " + groups).find(" 0 ") == std::string::npos, "it is in group 0: " + groups);
}

void persona(Try& t) {
  needs_key(t, "persona");
  Folder folder(t.backend.scratch());
  json::object a, b;
  a["persona"] = "contract-a";
  b["persona"] = "contract-b";
  Box one(t, a), two(t, b);
  if (!promised(t, one.report(), "persona")) return;
  // What one keeps in HOME and /tmp is not there for the other, by any path.
  const std::string token = new_token();
  t.require(one.sh("echo " + token + " > \"$HOME/secret\"").exited(0), "HOME cannot be written");
  control(t, one.sh("cat \"$HOME/secret\"").out == token + "\n",
          "it is not there for its own persona");
  const Ran ran = two.sh("cat \"$HOME/secret\"; grep -rsl " + token + " '" + t.backend.state() +
                         "' /tmp /home");
  t.expect(ran.out.empty(), "one persona's file is read by another: " + ran.told());
  if (::geteuid() != 0 || one.report().find("isolation.kernel_uid") == nullptr ||
      !one.report().enforced("isolation.kernel_uid")) {
    return;
  }
  std::string uids[2];
  Box* boxes[] = {&one, &two};
  for (int i = 0; i < 2; ++i) {
    const std::string mark = new_token();
    Running running = boxes[i]->start(boxes[i]->probe_command({"linger", mark}));
    t.require(running.says("lingers"), "the command does not start");
    uids[i] = status_field(appears(mark, seconds(5)), "Uid");
    running.call().stop(BH_CANCELLED);
    (void)running.wait(kStopped);
  }
  t.expect(uids[0] != uids[1], "two personas have one id of the kernel's: " + uids[0]);
}

}  // namespace

void add_identity(Suite& s) {
  s.add("identity.env_allow", "what env.allow names passes, and nothing else", allow);
  s.add("identity.env_set", "what env.set has arrives byte for byte", set);
  s.add("identity.user", "ids and name inside are the profile's", user);
  s.add("identity.kernel_uid", "no command has the kernel's id 0", kernel_uid);
  s.add("identity.persona", "personas see nothing of each other", persona);
}

}  // namespace bulkhead::sdk::contract
