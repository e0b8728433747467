// One operation that an embedder started, from its start to its last event.
//
// Owned by the engine while it goes on, by the embedder's handle and by its events. Every function
// is [any]; where one waits it says [blocking].
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/event.h"
#include "core/input.h"
#include "core/queue.h"
#include "core/session.h"
#include "core/sink.h"

namespace bh {

class Engine;

inline constexpr std::size_t kRoom = 1u << 20;   // bytes of events that nobody has freed yet
inline constexpr std::size_t kChunk = 64u << 10;

// Whom an event is for.
struct Receiver {
  std::shared_ptr<EventQueue> queue;
  std::uint64_t tag = 0;
  std::uint64_t id = 0;  // of the question, else 0
};

// How one is started.
struct RunOptions {
  std::shared_ptr<EventQueue> queue;
  std::uint64_t tag = 0;
  std::int64_t timeout_ns = 0;  // 0: no limit
  bool takes_input = false;
  bool on_callers_thread = false;  // bh_do: nobody frees events meanwhile, so there is no room limit
  bool control_lane = false;       // whose worker it has
};

class Run final : public std::enable_shared_from_this<Run>, public Sink {
 public:
  Run(std::shared_ptr<Engine> engine, std::shared_ptr<const Session> session, RunOptions options);
  ~Run() override;

  Engine& engine() const { return *engine_; }
  const Session& session() const { return *session_; }
  const std::shared_ptr<const Session>& session_ptr() const { return session_; }
  const std::shared_ptr<EventQueue>& queue() const { return options_.queue; }
  bool on_callers_thread() const { return options_.on_callers_thread; }
  bool control_lane() const { return options_.control_lane; }
  Input& input();

  // The last event. The first call counts: a plugin that is stuck was answered for already.
  void finish(Result<std::string> outcome);
  bool finished() const;

  void cancel(bh_status code = BH_CANCELLED);
  // A worker gives up on a call that did not return in time after it was stopped; true once.
  bool abandon_if_overdue();
  bool abandoned() const { return abandoned_.load(); }

  // --- time: the run's clock stands still while people decide
  std::int64_t clock() const;
  void pause_clock();
  void resume_clock();
  std::int64_t time_left() const;

  // --- calls of this run
  void enter(Call& call);
  void leave(Call& call);
  bh_status stop_reason(const Call& call) const;
  std::int64_t time_left(const Call& call) const;
  bh_status wait(Call& call, std::int64_t timeout_ns);
  void stop_tagged(const Call& up, std::uint64_t tag);
  // Something changed that may be a reason to stop: wakes who waits.
  void trip();
  // A deadline has to be kept, or a stopped call to be given up in time: the timer looks after it.
  void watch_deadline();
  // The call's cancel fd was handed out.
  void watch(Call& call);

  // Waits until ready() or a reason of `call` to stop, holding mutex() around ready().
  template <class Ready>
  bh_status wait_for(Call& call, std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!ready()) {
      if (bh_status stop = stop_reason_locked(call)) return stop;
      sleep_locked(call, lock, kNoLimit);
    }
    return BH_OK;
  }
  std::mutex& mutex() const { return mutex_; }
  void notify_locked() { changed_.notify_all(); }
  bh_status stop_reason_locked(const Call& call) const;

  // --- what the embedder sends
  // Takes what fits. OUT_OF_RANGE: nobody reads any more.
  Result<std::size_t> send(std::string_view bytes);
  Result<void> send_end();

  // --- answers (Sink)
  bh_status item(Call& from, std::string_view json) override;
  bh_status emit(Call& from, int stream, std::string_view bytes) override;
  bh_status attach(Call& from, const BlobView& blob) override;
  // The same to whoever answers `from`'s question: within this run's room, as its own events.
  bh_status attach_to(Call& from, const Receiver& to, const BlobView& blob);
  void event(Call& from, std::string_view json) override;
  void return_room(std::size_t cost);

 private:
  class Sent;  // the input that arrives by send()
  friend class Sent;

  bh_status put(Call& from, std::unique_ptr<Event> event, EventQueue& queue);
  bh_status stream_to(Call& from, const Receiver& to, int stream, std::string_view bytes);
  std::unique_ptr<Event> make_event(int kind) const;
  std::int64_t clock_locked() const;
  std::int64_t time_left_locked(const Call* call) const;
  std::int64_t next_look_locked() const;
  void sleep_locked(const Call& call, std::unique_lock<std::mutex>& lock, std::int64_t at_most);

  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<const Session> session_;
  const RunOptions options_;
  std::unique_ptr<Input> input_;
  Sent* sent_ = nullptr;  // input_, where there is one

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call*> calls_;
  bh_status cancelled_ = BH_OK;
  std::int64_t stopped_at_ = 0;  // when it first had a reason to stop, on the monotonic clock
  std::int64_t deadline_ = kNoLimit;
  std::int64_t paused_at_ = 0;
  std::int64_t skipped_ = 0;
  int paused_ = 0;
  std::size_t used_ = 0;
  int attached_streams_ = 0;
  bool finished_ = false;
  std::atomic<bool> abandoned_{false};
};

}  // namespace bh
