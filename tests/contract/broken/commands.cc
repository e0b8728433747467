// Commands that run otherwise than asked, or whose end is told wrongly.
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "fault.h"

namespace broken {

namespace {

// What every fault here does: another command than the one that was asked for.
bh_status other(void* box, bh_call* call, const bh_exec* what, bh_exit* out,
                std::vector<std::string> argv) {
  std::vector<bh_str> views;
  for (const auto& one : argv) views.push_back({one.data(), one.size()});
  bh_exec changed = *what;
  changed.argv = views.data();
  changed.argc = views.size();
  return good().exec(box, call, &changed, out);
}
std::vector<std::string> words(const bh_exec* what) {
  std::vector<std::string> out;
  for (size_t i = 0; i < what->argc; ++i) out.emplace_back(what->argv[i].data, what->argv[i].size);
  return out;
}

bh_status by_shell(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  std::string line;
  for (const auto& one : words(what)) line += (line.empty() ? "" : " ") + one;
  return other(box, call, what, out, {"/bin/sh", "-c", line});
}
bh_status ascii_only(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  for (auto& one : argv) {
    for (char& c : one) c = static_cast<unsigned char>(c) > 0x7f ? '?' : c;
  }
  return other(box, call, what, out, std::move(argv));
}
bh_status few_arguments(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  if (argv.size() > 100) argv.resize(100);
  return other(box, call, what, out, std::move(argv));
}
bh_status no_path(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  if (!argv.empty() && argv[0].find('/') == std::string::npos) argv[0].insert(0, "/");
  return other(box, call, what, out, std::move(argv));
}
bh_status in_root(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  argv.insert(argv.begin(), {"/bin/sh", "-c", "cd /; exec \"$@\"", "sh"});
  return other(box, call, what, out, std::move(argv));
}
bh_status hosts_environment(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  const char* secret = ::getenv("BULKHEAD_CONTRACT_SECRET");
  argv.insert(argv.begin(), {"/usr/bin/env", std::string("BULKHEAD_CONTRACT_SECRET=") +
                                                 (secret != nullptr ? secret : "")});
  return other(box, call, what, out, std::move(argv));
}
bh_status ignoring_signals(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  argv.insert(argv.begin(), {"/bin/sh", "-c", "trap '' HUP USR1; exec \"$@\"", "sh"});
  return other(box, call, what, out, std::move(argv));
}
bh_status with_descriptors(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  auto argv = words(what);
  argv.insert(
      argv.begin(),
      {"/bin/sh", "-c", "exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null; exec \"$@\"", "sh"});
  return other(box, call, what, out, std::move(argv));
}

bh_status as_shells_do(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  const bh_status st = good().exec(box, call, what, out);
  if (out->reason != BH_EXIT_SIGNAL) return st;
  out->reason = BH_EXIT_CODE;
  out->exit_code = 128 + out->signal;
  out->signal = 0;
  return st;
}
bh_status always_zero(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.result = [](std::string_view) { return bh_status{BH_OK}; };
  const bh_status st = exec_good(box, bent, what, out);
  if (out->reason == BH_EXIT_CODE) out->exit_code = 0;
  return st;
}
bh_status whole_exit(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  bh_exit mine{};
  mine.struct_size = sizeof mine;
  const bh_status st = good().exec(box, call, what, &mine);
  std::memcpy(out, &mine, sizeof mine);
  return st;
}
bh_status any_flag(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  bh_exec known = *what;
  known.flags &= BH_EXEC_INPUT;
  return good().exec(box, call, &known, out);
}
bh_status any_id(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  static int count = 0;
  const std::string id = "fresh-" + std::to_string(__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST));
  bh_exec renamed = *what;
  renamed.id = {id.data(), id.size()};
  return good().exec(box, call, &renamed, out);
}
bh_status empty_is_true(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  if (what->argc == 0 || what->argv[0].size == 0) return other(box, call, what, out, {"/bin/true"});
  return good().exec(box, call, what, out);
}
bh_status one_at_a_time(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  static int busy = 0;
  while (__atomic_exchange_n(&busy, 1, __ATOMIC_SEQ_CST) != 0) ::usleep(1000);
  Bent bent(call);
  const bh_status st = exec_good(box, bent, what, out);
  __atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
  return st;
}

}  // namespace

std::vector<Fault> commands() {
  return {
      {"by-shell", [](bh_isolation& t) { t.exec = &by_shell; }},
      {"ascii-arguments", [](bh_isolation& t) { t.exec = &ascii_only; }},
      {"few-arguments", [](bh_isolation& t) { t.exec = &few_arguments; }},
      {"no-path", [](bh_isolation& t) { t.exec = &no_path; }},
      {"in-root", [](bh_isolation& t) { t.exec = &in_root; }},
      {"hosts-environment", [](bh_isolation& t) { t.exec = &hosts_environment; }},
      {"ignoring-signals", [](bh_isolation& t) { t.exec = &ignoring_signals; }},
      {"with-descriptors", [](bh_isolation& t) { t.exec = &with_descriptors; }},
      {"as-shells-do", [](bh_isolation& t) { t.exec = &as_shells_do; }},
      {"always-zero", [](bh_isolation& t) { t.exec = &always_zero; }},
      {"whole-exit", [](bh_isolation& t) { t.exec = &whole_exit; }},
      {"any-flag", [](bh_isolation& t) { t.exec = &any_flag; }},
      {"any-id", [](bh_isolation& t) { t.exec = &any_id; }},
      {"empty-is-true", [](bh_isolation& t) { t.exec = &empty_is_true; }},
      {"one-at-a-time", [](bh_isolation& t) { t.exec = &one_at_a_time; }},
  };
}

}  // namespace broken
