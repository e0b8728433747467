// Who runs commands in a sandbox: one process at a time, for as long as one of its commands or jobs
// does. Written in the sandbox's record, so that a dead owner's can be taken over.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/call.h"
#include "sandbox/sight.h"

namespace bh {

struct Sandbox;

// All [any].
class Leases {
 public:
  Leases(SandboxRecords& records, std::int64_t wait_ms) : records_(records), wait_ms_(wait_ms) {}

  struct Claim {
    SandboxLife life;
    // It was a dead process's, or nobody ended what that left running: the claimant does, then says
    // settle(). Others of this process wait for that.
    bool inherited = false;
  };
  // Waits where another living process has it, until the call ends, at most the configured time.
  // NOT_FOUND, FAILED_PRECONDITION sandbox_owned (naming the process), sandbox_ended or
  // sandbox_state. [blocking]
  Result<Claim> claim(Call& up, const std::string& id);
  // The best of the persona's default sandboxes of that key that is to be had at once; empty: none.
  Result<std::optional<Claim>> claim_default(const std::string& key);
  // What a dead owner left running is ended.
  Result<void> settle(const std::string& id);
  // Cannot fail; what the database does not take now is given back with the next release or retry.
  void release(const std::string& id);
  // Gives back what release() could not.
  void retry();

 private:
  SandboxRecords& records_;
  const std::int64_t wait_ms_;
  std::mutex mutex_;
  std::vector<std::string> unreleased_;
};

// A sandbox that may be used: the lease is held while it lives. Moves; released by any thread.
class Use {
 public:
  Use() = default;
  Use(Leases& leases, std::string id) : leases_(&leases), id_(std::move(id)) {}
  Use(Use&& other) noexcept;
  Use& operator=(Use&& other) noexcept;
  ~Use();

  Sandbox& operator*() const { return *sandbox_; }
  Sandbox* operator->() const { return sandbox_.get(); }
  const std::shared_ptr<Sandbox>& sandbox() const { return sandbox_; }
  void holds(std::shared_ptr<Sandbox> sandbox) { sandbox_ = std::move(sandbox); }

 private:
  Leases* leases_ = nullptr;
  std::string id_;
  std::shared_ptr<Sandbox> sandbox_;
};

}  // namespace bh
