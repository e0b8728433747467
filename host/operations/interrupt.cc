// sandbox.interrupt: ends one command, politely first.
#include <algorithm>

#include "operations/catalogue.h"
#include "operations/rooms.h"

namespace bh {
namespace {

// Linux's numbers, on every platform.
constexpr std::int32_t kKill = 9;
constexpr std::int32_t kTerminate = 15;
constexpr std::int32_t kContinue = 18;
constexpr std::int64_t kLongestLook = 100'000'000;
constexpr std::int64_t kKilled = 10 * kSecond;

// False: it has ended.
Result<bool> reached(Call& call, const Sandbox& sandbox, const std::string& exec, std::int32_t number) {
  const Backend& backend = *sandbox.opened->backend;
  NullSink nowhere;
  NoInput none;
  auto done = drive(call, backend.host(), backend.who("signal"), nowhere, none, [&](bh_call* c) {
    return backend.table().signal(sandbox.handle, c, exec.data(), exec.size(), number);
  });
  if (done) return true;
  if (done.error().code == BH_NOT_FOUND) return false;
  return tl::unexpected(std::move(done).error());
}

// True: it ended within that time. A command that goes on anyhow takes no notice of SIGCONT, and one
// that was stopped has to go on to see what ends it.
Result<bool> ended_within(Call& call, const Sandbox& sandbox, const std::string& exec,
                          std::int64_t time_ns) {
  const std::int64_t until = monotonic_ns() + time_ns;
  for (std::int64_t look = 5'000'000;; look = std::min(look * 2, kLongestLook)) {
    auto there = reached(call, sandbox, exec, kContinue);
    if (!there) return there;
    if (!*there) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    if (bh_status st = call.wait(std::min(look, left))) return tl::unexpected(stop_error(st));
  }
}

Result<void> interrupt(Call& call, const Arguments& args) {
  const std::string id(json::get_string(args.values, "sandbox"));
  const std::string exec(json::get_string(args.values, "exec"));
  auto found = rooms_of(call).sandboxes.get(call, id);
  if (!found) return tl::unexpected(std::move(found).error());
  const Sandbox& sandbox = **found;
  if (!BH_HAS(&sandbox.opened->backend->table(), bh_isolation, signal) ||
      sandbox.opened->backend->table().signal == nullptr) {
    return fail(BH_UNIMPLEMENTED,
                "the backend " + sandbox.opened->backend->id() + " cannot signal commands",
                "not_offered", {{"backend", sandbox.opened->backend->id()}});
  }
  auto there = reached(call, sandbox, exec, kTerminate);
  if (!there) return tl::unexpected(std::move(there).error());
  if (!*there) {
    return fail(BH_NOT_FOUND, "the command " + json::quote(exec) + " has ended", "exec_ended",
                {{"sandbox", id}, {"exec", exec}});
  }
  auto ended = ended_within(call, sandbox, exec,
                            json::get_int(args.values, "grace_ms", 3000) * 1'000'000);
  if (ended && !*ended) {
    auto killed = reached(call, sandbox, exec, kKill);
    if (!killed) return tl::unexpected(std::move(killed).error());
    ended = ended_within(call, sandbox, exec, kKilled);
  }
  if (!ended) return tl::unexpected(std::move(ended).error());
  if (!*ended) {
    return fail(BH_UNAVAILABLE,
                "the command " + json::quote(exec) + " was killed and has not ended yet; look again",
                "busy", {{"sandbox", id}, {"exec", exec}});
  }
  return call.set_result(json::print(json::object{{"exec", exec}, {"ended", true}}));
}

}  // namespace

void add_interrupt_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "sandbox.interrupt";
  spec.summary =
      "Ends one command or job with all of its processes: asked first, killed after a while.";
  spec.args_schema =
      R"({"type":"object","required":["sandbox","exec"],"properties":{"sandbox":{"type":"string"},"exec":{"type":"string","minLength":1,"description":"As sandbox.exec's first item or job.start names it."},"grace_ms":{"type":"integer","minimum":0,"maximum":3600000,"description":"Between SIGTERM and SIGKILL; 3000."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"exec":{"type":"string"},"ended":{"const":true}}})";
  spec.reasons = {"busy", "exec_ended", "sandbox_not_found"};
  spec.run = interrupt;
  add(std::move(spec));
}

}  // namespace bh
