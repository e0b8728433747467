#include "core/run_input.h"

#include <algorithm>
#include <cstring>

namespace bh {

bh_status Run::Sent::receive(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  *got = 0;
  bool room = false;
  {
    std::unique_lock lock(run_.mutex_);
    auto readable = [&] { return begin_ < buffer_.size() || ended_ || unread_; };
    if (bh_status stop = run_.wait_for(call, lock, readable)) return stop;
    if (bh_status stop = run_.stop_reason_locked(call)) return stop;
    *got = std::min(size, buffer_.size() - begin_);
    if (*got > 0) std::memcpy(buffer, buffer_.data() + begin_, *got);
    begin_ += *got;
    if (begin_ == buffer_.size()) {
      buffer_.clear();
      begin_ = 0;
      if (!ended_ && !unread_) ready_.set(false);
    } else if (begin_ > kRoom / 2) {
      buffer_.erase(0, begin_);
      begin_ = 0;
    }
    room = want_room_ && buffer_.size() - begin_ <= kRoom / 2;
    if (room) want_room_ = false;
  }
  if (room) tell_room();
  return BH_OK;
}

void Run::Sent::end() {
  bool room = false;
  {
    std::lock_guard lock(run_.mutex_);
    unread_ = true;
    buffer_.clear();
    begin_ = 0;
    ready_.set(true);
    room = want_room_;
    want_room_ = false;
    run_.changed_.notify_all();
  }
  // The sender is told that there is news; its next send says that nobody reads.
  if (room) tell_room();
}

void Run::Sent::tell_room() { run_.options_.queue->push(run_.make_event(BH_EVENT_ROOM)); }

Result<std::size_t> Run::Sent::send(std::string_view bytes) {
  std::lock_guard lock(run_.mutex_);
  if (unread_ || run_.finished_) {
    return fail(BH_OUT_OF_RANGE, "nobody reads the input any more", "input_ended");
  }
  if (ended_) {
    return fail(BH_OUT_OF_RANGE, "the input was ended by bh_run_send_end()", "input_ended");
  }
  std::size_t held = buffer_.size() - begin_;
  std::size_t taken = std::min(bytes.size(), kRoom - std::min(kRoom, held));
  buffer_.append(bytes.substr(0, taken));
  if (taken < bytes.size()) want_room_ = true;
  if (taken > 0) {
    ready_.set(true);
    run_.changed_.notify_all();
  }
  return taken;
}

Result<void> Run::Sent::send_end() {
  std::lock_guard lock(run_.mutex_);
  ended_ = true;
  ready_.set(true);
  run_.changed_.notify_all();
  return {};
}

}  // namespace bh
