// What a session sees of a sandbox's record. The one place where personas are kept apart.
#pragma once

#include "core/clock.h"
#include "core/session.h"
#include "state/sandbox_records.h"

namespace bh {

inline std::int64_t wall_ms() { return wall_ns() / 1'000'000; }

// Not there, for everybody: its time is over, or nobody was ever told of it. It only waits to be
// swept.
bool is_over(const SandboxLife& life, std::int64_t now_ms);

// NOT_FOUND (sandbox_not_found) where the session does not see it: over, or another persona's. The
// words are those for one that never was.
Result<void> check_seen(const Session& session, const SandboxLife& life);

// FAILED_PRECONDITION where no command can be run in it now: sandbox_ended, or sandbox_state with
// what would help.
Result<void> check_usable(const SandboxLife& life);

}  // namespace bh
