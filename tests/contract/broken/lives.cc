// Faults of the life cycle, of stopping and of what is left.
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fault.h"

extern char** environ;

namespace broken {

namespace {

bh_status deaf(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.deaf = true;
  return exec_good(box, bent, what, out);
}
bh_status told_as_code(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  const bh_status st = good().exec(box, call, what, out);
  if (st == BH_OK) return st;
  out->reason = BH_EXIT_SIGNAL;
  return BH_OK;
}
// The command's processes outlive it: each is started out of reach, and exec tells nothing of it.
bh_status out_of_reach(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  std::vector<std::string> argv;
  for (size_t i = 0; i < what->argc; ++i) argv.emplace_back(what->argv[i].data, what->argv[i].size);
  const bool daemon = argv.size() > 2 && (argv[1] == "daemon" || argv[1] == "-c");
  if (daemon) {
    // The arguments name the process by which the suite looks for what is left.
    std::vector<char*> raw = {const_cast<char*>("/bin/sh"), const_cast<char*>("-c"),
                              const_cast<char*>("sleep 20; :")};
    for (auto& one : argv) raw.push_back(one.data());
    raw.push_back(nullptr);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int fd : {0, 1, 2})
      ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", 2, 0);
    pid_t pid = -1;
    (void)::posix_spawn(&pid, "/bin/sh", &actions, &attributes, raw.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  return good().exec(box, call, what, out);
}
bh_status untold(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  const bh_status st = good().exec(box, call, what, out);
  out->flags = 0;
  return st;
}
bh_status fragile(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  static int ended = 0;  // a command's death is the sandbox's
  if (ended != 0) {
    ended = 0;
    return call->api->fail(call, BH_NOT_FOUND, "gone", 4, R"({"reason":"sandbox_not_found"})", 30);
  }
  const bh_status st = good().exec(box, call, what, out);
  if (st != BH_OK || out->reason == BH_EXIT_SIGNAL) ended = 1;
  return st;
}
bh_status signal_nothing(void*, bh_call*, const char*, size_t, int32_t) { return BH_OK; }
bh_status signal_all(void* box, bh_call* call, const char*, size_t, int32_t number) {
  return good().signal(box, call, "", 0, number);
}

bh_status destroy_nothing(void*, bh_call*, const char*, size_t) { return BH_OK; }
bh_status destroy_once(void* self, bh_call* call, const char* id, size_t size) {
  void* box = nullptr;
  Bent quiet(call);
  quiet.result = [](std::string_view) { return bh_status{BH_OK}; };
  if (good().find(self, quiet.raw(), id, size, &box) == BH_NOT_FOUND) return BH_NOT_FOUND;
  if (box != nullptr) good().release(box);
  return good().destroy(self, call, id, size);
}
bh_status create_over(void* self, bh_call* call, const char* id, size_t id_size,
                      const char* profile, size_t size, void** out) {
  (void)good().destroy(self, call, id, id_size);
  return good().create(self, call, id, id_size, profile, size, out);
}
// Long names, and those that a path would be, are cut to what fits.
bh_status create_named(void* self, bh_call* call, const char* id, size_t id_size,
                       const char* profile, size_t size, void** out) {
  static const char kFine[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
  std::string name = id_size == 0 ? "unnamed" : std::string(id, std::min<size_t>(id_size, 60));
  for (char& c : name) c = std::strchr(kFine, c) != nullptr ? c : '-';
  return good().create(self, call, name.data(), name.size(), profile, size, out);
}
bh_status create_short_names(void* self, bh_call* call, const char* id, size_t id_size,
                             const char* profile, size_t size, void** out) {
  if (id_size > 40) {
    return call->api->fail(call, BH_INVALID_ARGUMENT, "too long", 8, R"({"reason":"id"})", 15);
  }
  return good().create(self, call, id, id_size, profile, size, out);
}
bh_status crash_on_nonsense(void* self, bh_call* call, const char* id, size_t id_size,
                            const char* profile, size_t size, void** out) {
  if (size == 0 || profile[0] != '{') ::raise(SIGSEGV);
  return good().create(self, call, id, id_size, profile, size, out);
}
bh_status list_nothing(void*, bh_call*) { return BH_OK; }
bh_status find_always(void* self, bh_call* call, const char* id, size_t size, void** out) {
  Bent bent(call);
  const bh_status st = good().find(self, bent.raw(), id, size, out);
  return st == BH_NOT_FOUND ? bh_status{BH_UNAVAILABLE} : st;
}
bh_status find_never(void*, bh_call* call, const char*, size_t, void**) {
  return call->api->fail(call, BH_NOT_FOUND, "gone with its handle", 20, R"({"reason":"gone"})",
                         17);
}
bh_status inspect_odd(void* box, bh_call* call) {
  Bent bent(call);
  bent.result = [&](std::string_view) {
    return bent.pass_result(R"({"state":"running","processes":3})");
  };
  return good().inspect(box, bent.raw());
}
// Whatever became of the sandbox, the command has simply ended.
bh_status exec_ghost(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  const bh_status st = good().exec(box, call, what, out);
  if (st != BH_NOT_FOUND && out->reason != BH_EXIT_STOPPED) return st;
  out->reason = BH_EXIT_CODE;
  out->exit_code = 0;
  return BH_OK;
}
bh_status limit_as_signal(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  const bh_status st = good().exec(box, call, what, out);
  if (out->reason >= BH_EXIT_MEMORY && out->reason <= BH_EXIT_OUTPUT) out->reason = BH_EXIT_SIGNAL;
  return st;
}

}  // namespace

std::vector<Fault> lives() {
  return {
      {"deaf", [](bh_isolation& t) { t.exec = &deaf; }},
      {"stop-as-signal", [](bh_isolation& t) { t.exec = &told_as_code; }},
      {"out-of-reach", [](bh_isolation& t) { t.exec = &out_of_reach; }},
      {"untold", [](bh_isolation& t) { t.exec = &untold; }},
      {"fragile", [](bh_isolation& t) { t.exec = &fragile; }},
      {"signal-nothing", [](bh_isolation& t) { t.signal = &signal_nothing; }},
      {"signal-all", [](bh_isolation& t) { t.signal = &signal_all; }},
      {"destroy-nothing", [](bh_isolation& t) { t.destroy = &destroy_nothing; }},
      {"destroy-once", [](bh_isolation& t) { t.destroy = &destroy_once; }},
      {"create-over", [](bh_isolation& t) { t.create = &create_over; }},
      {"create-named", [](bh_isolation& t) { t.create = &create_named; }},
      {"short-names", [](bh_isolation& t) { t.create = &create_short_names; }},
      {"crash-on-nonsense", [](bh_isolation& t) { t.create = &crash_on_nonsense; }},
      {"list-nothing", [](bh_isolation& t) { t.list = &list_nothing; }},
      {"find-always", [](bh_isolation& t) { t.find = &find_always; }},
      {"find-never", [](bh_isolation& t) { t.find = &find_never; }},
      {"inspect-odd", [](bh_isolation& t) { t.inspect = &inspect_odd; }},
      {"exec-ghost", [](bh_isolation& t) { t.exec = &exec_ghost; }},
      {"limit-as-signal", [](bh_isolation& t) { t.exec = &limit_as_signal; }},
  };
}

}  // namespace broken
