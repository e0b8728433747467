#include "sandbox/keeper.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/clock.h"
#include "core/pool.h"

namespace bh {
namespace {

constexpr std::int64_t kFirstMs = 500;
constexpr std::int64_t kEveryMs = 30'000;
constexpr std::int64_t kPatience = 2 * kSecond;
constexpr auto kStuck = std::chrono::seconds(8);

}  // namespace

struct Keeper::State {
  explicit State(Pass work) : pass(std::move(work)) {}

  const Pass pass;
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false;
  bool touched = false;
  bool poked = false;
  bool stopping = false;
  bool ended = false;
  std::atomic<std::int64_t> stopped_at{0};

  void loop();
};

Keeper::Keeper(Pass pass) : state_(std::make_shared<State>(std::move(pass))) {}

Keeper::~Keeper() { (void)stop(); }

void Keeper::State::loop() {
  std::unique_lock lock(mutex);
  std::int64_t wait_ms = kFirstMs;
  for (;;) {
    changed.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return poked || stopping; });
    if (stopping && !poked) break;
    poked = false;
    touched = true;
    lock.unlock();
    // The wall clock may be set while we wait: never for longer than the usual time.
    const std::int64_t due = pass() - wall_ns() / 1'000'000;
    lock.lock();
    wait_ms = std::clamp<std::int64_t>(due, 1, kEveryMs);
  }
  ended = true;
  changed.notify_all();
}

void Keeper::start() {
  std::lock_guard lock(state_->mutex);
  if (state_->started || state_->stopping) return;
  SignalsBlocked inherited_by_the_thread;
  std::thread([state = state_] { state->loop(); }).detach();
  state_->started = true;
}

void Keeper::poke() {
  std::lock_guard lock(state_->mutex);
  if (state_->stopping) return;
  state_->poked = true;
  state_->changed.notify_all();
}

void Keeper::touch() {
  std::lock_guard lock(state_->mutex);
  if (state_->touched || state_->stopping) return;
  state_->touched = true;
  state_->poked = true;
  state_->changed.notify_all();
}

bool Keeper::stop() {
  std::unique_lock lock(state_->mutex);
  if (!state_->stopping) {
    state_->stopped_at = monotonic_ns();
    state_->stopping = true;
    state_->changed.notify_all();
  }
  if (!state_->started) return true;
  return state_->changed.wait_for(lock, kStuck, [&] { return state_->ended; });
}

bool Keeper::hurried() const {
  const std::int64_t at = state_->stopped_at;
  return at != 0 && monotonic_ns() - at > kPatience;
}

}  // namespace bh
