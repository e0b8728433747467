#include "sandbox/sight.h"

namespace bh {

bool is_over(const SandboxLife& life, std::int64_t now_ms) {
  if (life.state == "making") return !life.actor.alive();
  if (life.state == "stopping" && life.reason != "killed") return true;
  return life.expired(now_ms);
}

Result<void> check_seen(const Session& session, const SandboxLife& life) {
  if (is_over(life, wall_ms()) || (!session.is_operator && life.persona != session.persona)) {
    return no_such_sandbox(life.id);
  }
  return {};
}

Result<void> check_usable(const SandboxLife& life) {
  if (life.state == "running") return {};
  if (life.state == "stopping") {
    return fail(BH_FAILED_PRECONDITION, "the sandbox " + life.id + " is being ended",
                "sandbox_ended", {{"sandbox", life.id}});
  }
  std::string why = "is not ready yet; try again in a moment";
  if (life.state == "failed") {
    why = "has failed: " + life.message + "; kill it and make another";
  } else if (life.state != "making") {
    why = "is " + life.state + "; sandbox.resume makes it go on";
  }
  return fail(BH_FAILED_PRECONDITION, "the sandbox " + life.id + " " + why, "sandbox_state",
              {{"sandbox", life.id}, {"state", life.state == "making" ? "pending" : life.state}});
}

}  // namespace bh
