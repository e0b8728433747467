#include "sandbox/lease.h"

#include <algorithm>
#include <utility>

namespace bh {
namespace {

enum class Taken { kYes, kInherited, kBusy };

// Nobody's, this process's or a dead one's is taken; `life` changes then, and only then.
Taken take(SandboxLife& life) {
  const ProcessName& self = ProcessName::self();
  const bool held = life.busy > 0 && life.owner.alive();
  if (held && life.owner == self && !life.inherited) {
    life.busy++;
    life.used_ms = wall_ms();
    return Taken::kYes;
  }
  if (held) return Taken::kBusy;
  life.inherited = life.inherited || life.busy > 0;
  life.owner = self;
  life.busy = 1;
  life.used_ms = wall_ms();
  return life.inherited ? Taken::kInherited : Taken::kYes;
}

Failure owned_by(const std::string& id, const ProcessName& owner) {
  const std::string pid = std::to_string(owner.pid);
  const std::string command = owner.command();
  return fail(BH_FAILED_PRECONDITION,
              "the sandbox " + id + " is in use by process " + pid +
                  (command.empty() ? "" : " (" + command + ")") +
                  "; wait for it to end, or use a sandbox of your own",
              "sandbox_owned", {{"sandbox", id}, {"pid", pid}, {"command", command}});
}

}  // namespace

Result<Leases::Claim> Leases::claim(Call& up, const std::string& id) {
  const std::int64_t until = monotonic_ns() + wait_ms_ * 1'000'000;
  std::int64_t pause = 5'000'000;
  for (;;) {
    Taken taken = Taken::kBusy;
    ProcessName holder;
    auto life = records_.change(id, [&](SandboxLife& l) -> Result<void> {
      BH_TRY(check_seen(up.session(), l));
      BH_TRY(check_usable(l));
      holder = l.owner;
      taken = take(l);
      // Nothing is to be written: the error goes no further than this.
      if (taken == Taken::kBusy) return owned_by(id, l.owner);
      return {};
    });
    if (life) return Claim{std::move(*life), taken == Taken::kInherited};
    if (holder.nobody() || taken != Taken::kBusy) return tl::unexpected(std::move(life).error());
    const std::int64_t left = until - monotonic_ns();
    // This process's own thread is about to settle what it took over.
    if (left <= 0 && !holder.here()) return tl::unexpected(std::move(life).error());
    if (bh_status st = up.wait(left > 0 ? std::min(pause, left) : pause)) {
      return tl::unexpected(stop_error(st));
    }
    pause = std::min<std::int64_t>(pause * 2, 100'000'000);
  }
}

Result<std::optional<Leases::Claim>> Leases::claim_default(const std::string& key) {
  Taken taken = Taken::kBusy;
  auto picked = records_.change_default(key, [&](std::vector<SandboxLife>& all) -> SandboxLife* {
    // One that is in use here before one that is idle, and that before a dead process's.
    SandboxLife* best = nullptr;
    int best_rank = 3;
    for (SandboxLife& life : all) {
      if (life.state != "running" || is_over(life, wall_ms())) continue;
      int rank = 2;
      if (life.busy > 0 && life.owner.here()) {
        rank = life.inherited ? 3 : 0;
      } else if (life.busy == 0) {
        rank = 1;
      } else if (life.owner.alive()) {
        rank = 3;
      }
      if (rank < best_rank) {
        best = &life;
        best_rank = rank;
      }
    }
    if (best != nullptr) taken = take(*best);
    return best;
  });
  if (!picked) return tl::unexpected(std::move(picked).error());
  if (!*picked) return std::optional<Claim>();
  return std::optional<Claim>(Claim{std::move(**picked), taken == Taken::kInherited});
}

Result<void> Leases::settle(const std::string& id) {
  auto done = records_.change(id, [](SandboxLife& life) -> Result<void> {
    life.inherited = false;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

void Leases::release(const std::string& id) {
  auto done = records_.change(id, [](SandboxLife& life) -> Result<void> {
    if (life.busy == 0 || !life.owner.here()) return {};
    life.used_ms = wall_ms();
    if (--life.busy == 0) life.owner = {};
    return {};
  });
  if (done || done.error().code == BH_NOT_FOUND) return;
  std::lock_guard lock(mutex_);
  unreleased_.push_back(id);
}

void Leases::retry() {
  std::vector<std::string> ids;
  {
    std::lock_guard lock(mutex_);
    ids.swap(unreleased_);
  }
  for (const std::string& id : ids) release(id);
}

Use::Use(Use&& other) noexcept
    : leases_(std::exchange(other.leases_, nullptr)),
      id_(std::move(other.id_)),
      sandbox_(std::move(other.sandbox_)) {}

Use& Use::operator=(Use&& other) noexcept {
  if (this == &other) return *this;
  if (leases_ != nullptr) leases_->release(id_);
  leases_ = std::exchange(other.leases_, nullptr);
  id_ = std::move(other.id_);
  sandbox_ = std::move(other.sandbox_);
  return *this;
}

Use::~Use() {
  if (leases_ != nullptr) leases_->release(id_);
}

}  // namespace bh
