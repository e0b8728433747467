#include "core/run.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "core/engine.h"
#include "core/run_input.h"

namespace bh {

namespace {
constexpr std::int64_t kGrace = 2 * kSecond;
}

Run::Run(std::shared_ptr<Engine> engine, std::shared_ptr<const Session> session,
         RunOptions options)
    : engine_(std::move(engine)), session_(std::move(session)), options_(std::move(options)) {
  if (options_.takes_input) {
    auto sent = std::make_unique<Sent>(*this);
    sent_ = sent.get();
    input_ = std::move(sent);
  } else {
    input_ = std::make_unique<NoInput>();
  }
  if (options_.timeout_ns > 0) {
    std::int64_t now = monotonic_ns();
    deadline_ = options_.timeout_ns > kNoLimit - now ? kNoLimit : now + options_.timeout_ns;
  }
}

Run::~Run() { engine_->timer().forget(this); }

Input& Run::input() { return *input_; }

std::unique_ptr<Event> Run::make_event(int kind) const {
  return std::make_unique<Event>(kind, options_.tag);
}

void Run::finish(Result<std::string> outcome) {
  auto last = make_event(outcome ? BH_EVENT_RESULT : BH_EVENT_FAULT);
  if (outcome) {
    last->data = std::move(*outcome);
  } else {
    last->fault = std::move(outcome).error();
  }
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    changed_.notify_all();
  }
  options_.queue->push(std::move(last));
}

bool Run::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

void Run::cancel(bh_status code) {
  {
    std::lock_guard lock(mutex_);
    if (cancelled_ == BH_OK) {
      cancelled_ = code;
      stopped_at_ = monotonic_ns();
    }
  }
  trip();
  watch_deadline();
}

bool Run::abandon_if_overdue() {
  std::lock_guard lock(mutex_);
  if (finished_) return false;
  std::int64_t now = monotonic_ns();
  if (paused_ == 0 && deadline_ != kNoLimit && clock_locked() >= deadline_ && stopped_at_ == 0) {
    stopped_at_ = now;
  }
  if (options_.on_callers_thread || stopped_at_ == 0 || now - stopped_at_ < kGrace) return false;
  return !abandoned_.exchange(true);
}

std::int64_t Run::clock_locked() const {
  return (paused_ > 0 ? paused_at_ : monotonic_ns()) - skipped_;
}

std::int64_t Run::clock() const {
  std::lock_guard lock(mutex_);
  return clock_locked();
}

void Run::pause_clock() {
  std::lock_guard lock(mutex_);
  if (paused_++ == 0) paused_at_ = monotonic_ns();
}

void Run::resume_clock() {
  {
    std::lock_guard lock(mutex_);
    if (--paused_ == 0) skipped_ += monotonic_ns() - paused_at_;
    changed_.notify_all();
  }
  watch_deadline();
}

std::int64_t Run::time_left_locked(const Call* call) const {
  std::int64_t now = clock_locked();
  std::int64_t left = kNoLimit;
  for (; call != nullptr; call = call->up_) {
    if (call->deadline_ != kNoLimit) left = std::min(left, call->deadline_ - now);
    if (call->cleanup_) return left;
  }
  if (deadline_ != kNoLimit) left = std::min(left, deadline_ - now);
  return left;
}

std::int64_t Run::time_left(const Call& call) const {
  std::lock_guard lock(mutex_);
  return std::max<std::int64_t>(0, time_left_locked(&call));
}

std::int64_t Run::time_left() const {
  std::lock_guard lock(mutex_);
  return time_left_locked(nullptr);
}

void Run::enter(Call& call) {
  std::lock_guard lock(mutex_);
  calls_.push_back(&call);
}

void Run::leave(Call& call) {
  std::lock_guard lock(mutex_);
  // Calls end innermost first, so it is nearly always the last.
  auto at = std::find(calls_.rbegin(), calls_.rend(), &call);
  if (at != calls_.rend()) calls_.erase(std::next(at).base());
}

bh_status Run::stop_reason_locked(const Call& call) const {
  for (const Call* c = &call; c != nullptr; c = c->up_) {
    if (bh_status s = c->stopped_.load()) return s;
    if (c->deadline_ != kNoLimit && clock_locked() >= c->deadline_) return BH_DEADLINE_EXCEEDED;
    if (c->cleanup_) return BH_OK;
  }
  if (cancelled_ != BH_OK) return cancelled_;
  return deadline_ != kNoLimit && clock_locked() >= deadline_ ? BH_DEADLINE_EXCEEDED : BH_OK;
}

bh_status Run::stop_reason(const Call& call) const {
  std::lock_guard lock(mutex_);
  return stop_reason_locked(call);
}

void Run::sleep_locked(const Call& call, std::unique_lock<std::mutex>& lock,
                       std::int64_t at_most) {
  std::int64_t left = paused_ > 0 ? kNoLimit : time_left_locked(&call);
  left = std::min(left, at_most);
  if (left == kNoLimit) {
    changed_.wait(lock);
  } else if (left > 0) {
    changed_.wait_for(lock, std::chrono::nanoseconds(left));
  }
}

bh_status Run::wait(Call& call, std::int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  std::int64_t now = monotonic_ns();
  std::int64_t until = timeout_ns > kNoLimit - now ? kNoLimit : now + std::max<std::int64_t>(0, timeout_ns);
  for (;;) {
    if (bh_status stop = stop_reason_locked(call)) return stop;
    std::int64_t rest = until == kNoLimit ? kNoLimit : until - monotonic_ns();
    if (rest <= 0) return BH_OK;
    sleep_locked(call, lock, rest);
  }
}

void Run::stop_tagged(const Call& up, std::uint64_t tag) {
  {
    std::lock_guard lock(mutex_);
    for (Call* c : calls_) {
      if (c->up_ != &up || c->tag_ != tag) continue;
      bh_status none = BH_OK;
      c->stopped_.compare_exchange_strong(none, BH_CANCELLED);
    }
  }
  trip();
}

void Run::trip() {
  std::lock_guard lock(mutex_);
  for (Call* c : calls_) {
    if (stop_reason_locked(*c) != BH_OK) c->cancel_fd_.set(true);
  }
  changed_.notify_all();
}

// When something may change by time alone, on the monotonic clock.
std::int64_t Run::next_look_locked() const {
  if (finished_ || abandoned_.load()) return kNoLimit;
  std::int64_t at = kNoLimit;
  if (stopped_at_ != 0 && !options_.on_callers_thread) at = stopped_at_ + kGrace;
  if (paused_ > 0) return at;  // resume_clock() asks again
  const std::int64_t now = monotonic_ns();
  const std::int64_t own = time_left_locked(nullptr);
  // What passed and was seen needs no second look.
  if (own != kNoLimit && (own > 0 || stopped_at_ == 0)) {
    at = std::min(at, now + std::max<std::int64_t>(own, 0));
  }
  for (const Call* c : calls_) {
    const std::int64_t left = time_left_locked(c);
    if (left != kNoLimit && left > 0) at = std::min(at, now + left);
  }
  return at;
}

void Run::watch_deadline() {
  std::int64_t at = kNoLimit;
  {
    std::lock_guard lock(mutex_);
    at = next_look_locked();
  }
  if (at != kNoLimit) engine_->timer().arm(shared_from_this(), at);
}

void Run::watch(Call& call) {
  {
    // A call that began after the stop was not there to be told of it.
    std::lock_guard lock(mutex_);
    if (stop_reason_locked(call) != BH_OK) call.cancel_fd_.set(true);
  }
  watch_deadline();
}

Result<std::size_t> Run::send(std::string_view bytes) {
  if (sent_ == nullptr) {
    return fail(BH_FAILED_PRECONDITION,
                "this run takes no input; announce it with bh_request_input() before the start",
                "no_input");
  }
  return sent_->send(bytes);
}

Result<void> Run::send_end() {
  if (sent_ == nullptr) {
    return fail(BH_FAILED_PRECONDITION,
                "this run takes no input; announce it with bh_request_input() before the start",
                "no_input");
  }
  return sent_->send_end();
}

bh_status Run::put(Call& from, std::unique_ptr<Event> event, EventQueue& queue) {
  std::size_t cost = event->data.size() + 64;
  {
    std::unique_lock lock(mutex_);
    bool unbounded = options_.on_callers_thread;
    // What is larger than the room passes alone.
    auto fits = [&] { return unbounded || used_ == 0 || used_ + cost <= kRoom; };
    if (bh_status stop = wait_for(from, lock, fits)) return stop;
    if (bh_status stop = stop_reason_locked(from)) return stop;
    used_ += cost;
  }
  event->run = shared_from_this();
  event->cost = cost;
  queue.push(std::move(event));
  return BH_OK;
}

bh_status Run::item(Call& from, std::string_view json) {
  auto event = make_event(BH_EVENT_ITEM);
  event->data = json;
  return put(from, std::move(event), *options_.queue);
}

bh_status Run::emit(Call& from, int stream, std::string_view bytes) {
  return stream_to(from, {options_.queue, options_.tag}, stream, bytes);
}

bh_status Run::stream_to(Call& from, const Receiver& to, int stream, std::string_view bytes) {
  while (!bytes.empty()) {
    auto event = std::make_unique<Event>(BH_EVENT_OUTPUT, to.tag);
    event->id = to.id;
    event->stream = stream;
    event->data = bytes.substr(0, kChunk);
    bytes.remove_prefix(event->data.size());
    if (bh_status stop = put(from, std::move(event), *to.queue)) return stop;
  }
  return stop_reason(from);
}

bh_status Run::attach(Call& from, const BlobView& blob) {
  return attach_to(from, {options_.queue, options_.tag}, blob);
}

bh_status Run::attach_to(Call& from, const Receiver& to, const BlobView& blob) {
  auto event = std::make_unique<Event>(BH_EVENT_ATTACHMENT, to.tag);
  event->id = to.id;
  event->name = blob.name;
  event->type = blob.media_type;
  if (blob.data.size() <= kMaxAttachment) {
    event->data = blob.data;
    return put(from, std::move(event), *to.queue);
  }
  if (options_.on_callers_thread) {
    // Nobody reads meanwhile, so all of it would lie in the queue.
    return from.record(fail(BH_RESOURCE_EXHAUSTED,
                            "an attachment above 64 MiB is streamed, which bh_do() cannot; use "
                            "bh_start()",
                            "attachment_too_large")
                           .value());
  }
  int stream = 0;
  {
    std::lock_guard lock(mutex_);
    // Distinct among those of a run that anybody could still be reading.
    stream = BH_STREAM_ATTACHED + (attached_streams_++ & 0xFFFFFF);
  }
  event->stream = stream;
  if (bh_status stop = put(from, std::move(event), *to.queue)) return stop;
  if (bh_status stop = stream_to(from, to, stream, blob.data)) return stop;
  auto end = std::make_unique<Event>(BH_EVENT_OUTPUT, to.tag);
  end->id = to.id;
  end->stream = stream;
  return put(from, std::move(end), *to.queue);
}

void Run::event(Call&, std::string_view json) {
  auto event = make_event(BH_EVENT_PROGRESS);
  event->data = json;
  std::size_t cost = json.size() + 64;
  {
    std::lock_guard lock(mutex_);
    if (!options_.on_callers_thread && used_ + cost > kRoom / 2) return;
    used_ += cost;
  }
  event->run = shared_from_this();
  event->cost = cost;
  options_.queue->push(std::move(event));
}

void Run::return_room(std::size_t cost) {
  std::lock_guard lock(mutex_);
  used_ -= std::min(used_, cost);
  changed_.notify_all();
}

}  // namespace bh
