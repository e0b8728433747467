// Looking at sandboxes, and what changes their state without ending them.
#include <bulkhead/isolation_state.h>

#include <algorithm>
#include <utility>

#include "sandbox/sandboxes.h"

namespace bh {

Result<SandboxRecord> Sandboxes::record(const Session& session, const std::string& id) {
  keeper_.touch();
  auto record = records_.get(id);
  if (!record) return record;
  BH_TRY(check_seen(session, *record));
  return record;
}

Result<std::vector<SandboxRecord>> Sandboxes::list(const Session& session) {
  keeper_.touch();
  // Another persona's records may be many and large: they are not even read.
  auto all = records_.all(session.is_operator ? std::string() : session.persona);
  if (!all) return all;
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const SandboxRecord& r) { return !check_seen(session, r); }),
             all->end());
  return all;
}

Result<SandboxRecord> Sandboxes::connect(Call& up, const std::string& id) {
  auto found = record(up.session(), id);
  if (!found || found->state != "running") return found;
  auto sandbox = opened(up, id);
  if (sandbox) return found;
  if (sandbox.error().code != BH_NOT_FOUND) return tl::unexpected(std::move(sandbox).error());
  BH_TRY(records_.change(id, [&](SandboxLife& life) -> Result<void> {
    if (life.state != "running") return {};
    life.state = "failed";
    life.reason = "lost";
    life.message = "the backend " + life.backend + " no longer has it";
    return {};
  }));
  return record(up.session(), id);
}

Result<std::int64_t> Sandboxes::renew(const Session& session, const std::string& id,
                                      std::int64_t timeout_ms) {
  std::int64_t expires = 0;
  auto done = records_.change(id, [&](SandboxLife& life) -> Result<void> {
    BH_TRY(check_seen(session, life));
    if (life.state == "stopping") return check_usable(life);
    const std::int64_t now = wall_ms();
    expires = timeout_ms > INT64_MAX - now ? INT64_MAX : now + timeout_ms;
    life.expires_ms = expires;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done).error());
  keeper_.touch();
  keeper_.poke();
  return expires;
}

Result<void> Sandboxes::set_paused(Call& up, const std::string& id, bool paused) {
  auto sandbox = get(up, id);
  if (!sandbox) return tl::unexpected(std::move(sandbox).error());
  const Backend& backend = *(*sandbox)->opened->backend;
  const bool extends = BH_HAS(&backend.table(), bh_isolation, get_extension) &&
                       backend.table().get_extension != nullptr;
  const auto* table = static_cast<const bh_isolation_pause*>(
      extends ? backend.table().get_extension(BH_ISOLATION_PAUSE) : nullptr);
  if (table == nullptr || !BH_HAS(table, bh_isolation_pause, resume) || table->pause == nullptr ||
      table->resume == nullptr) {
    return fail(BH_UNIMPLEMENTED, "the backend " + backend.id() + " cannot pause sandboxes",
                "pause_unsupported", {{"backend", backend.id()}});
  }
  const char* const during = paused ? "pausing" : "resuming";
  const char* const before = paused ? "running" : "paused";
  auto begun = records_.change(id, [&](SandboxLife& life) -> Result<void> {
    BH_TRY(check_seen(up.session(), life));
    if (life.state != "running" && life.state != "paused" && life.actor.alive()) {
      return fail(BH_FAILED_PRECONDITION,
                  "the sandbox " + id + " is " + life.state + "; try again when that is done",
                  "sandbox_state", {{"sandbox", id}, {"state", life.state}});
    }
    life.state = during;
    life.actor = ProcessName::self();
    return {};
  });
  if (!begun) return tl::unexpected(std::move(begun).error());
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, backend.host(), backend.who(paused ? "pause" : "resume"), nowhere, none,
                    [&](bh_call* c) {
                      return paused ? table->pause((*sandbox)->handle, c)
                                    : table->resume((*sandbox)->handle, c);
                    });
  BH_TRY(records_.change(id, [&](SandboxLife& life) -> Result<void> {
    // Ended meanwhile: that stays.
    if (life.state != during || !life.actor.here()) return {};
    life.state = !done ? before : paused ? "paused" : "running";
    life.actor = {};
    return {};
  }));
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<void> Sandboxes::pause(Call& up, const std::string& id) { return set_paused(up, id, true); }
Result<void> Sandboxes::resume(Call& up, const std::string& id) { return set_paused(up, id, false); }

}  // namespace bh
