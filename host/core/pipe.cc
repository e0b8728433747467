#include "core/pipe.h"

#include <bulkhead/plugin.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

#include "core/call.h"
#include "core/pool.h"
#include "core/run.h"

namespace bh {

Pipe::Pipe(Run& run) : run_(run), ring_(kHeld, '\0') {}

bh_status Pipe::In::emit(Call& from, int stream, std::string_view bytes) {
  return stream == BH_STREAM_DATA ? pipe_.put(from, bytes) : BH_OK;
}

bh_status Pipe::Out::receive(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  return pipe_.take(call, buffer, size, got);
}

bh_status Pipe::put(Call& from, std::string_view bytes) {
  bool gone = false;
  {
    std::unique_lock lock(run_.mutex());
    while (!bytes.empty() && !gone) {
      auto room = [&] { return held_ < ring_.size() || left_; };
      if (bh_status stop = run_.wait_for(from, lock, room)) return stop;
      gone = left_;
      if (gone) break;
      const std::size_t at = (begin_ + held_) % ring_.size();
      const std::size_t taken =
          std::min({bytes.size(), ring_.size() - held_, ring_.size() - at});
      std::memcpy(ring_.data() + at, bytes.data(), taken);
      bytes.remove_prefix(taken);
      held_ += taken;
      ready_.set(true);
      run_.notify_locked();
    }
    if (bh_status stop = run_.stop_reason_locked(from)) return stop;
  }
  if (!gone) return BH_OK;
  // Recorded in the call itself, so that the plugin is not blamed for what it passes on.
  from.stop(BH_OUT_OF_RANGE);
  return BH_OUT_OF_RANGE;
}

bh_status Pipe::take(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  *got = 0;
  bh_status outcome = BH_OK;
  {
    std::unique_lock lock(run_.mutex());
    auto readable = [&] { return held_ > 0 || ended_ || left_; };
    if (bh_status stop = run_.wait_for(call, lock, readable)) return stop;
    if (bh_status stop = run_.stop_reason_locked(call)) return stop;
    if (left_) return BH_OK;
    outcome = outcome_;
    if (outcome == BH_OK && held_ > 0) {
      *got = std::min({size, held_, ring_.size() - begin_});
      std::memcpy(buffer, ring_.data() + begin_, *got);
      begin_ = (begin_ + *got) % ring_.size();
      held_ -= *got;
      if (held_ == 0 && !ended_) ready_.set(false);
      run_.notify_locked();
    }
  }
  if (outcome != BH_OK) call.stop(outcome);
  return outcome;
}

void Pipe::end(bh_status outcome) {
  std::lock_guard lock(run_.mutex());
  ended_ = true;
  outcome_ = outcome;
  ready_.set(true);
  run_.notify_locked();
}

void Pipe::leave() {
  std::lock_guard lock(run_.mutex());
  if (left_) return;
  left_ = true;
  left_early_ = !ended_;
  ready_.set(true);
  run_.notify_locked();
}

bool Pipe::left_early() const {
  std::lock_guard lock(run_.mutex());
  return left_early_;
}

Result<void> pipe_through(Call& call, const std::function<Result<void>(Sink&)>& read,
                          const std::function<Result<void>(Input&)>& write) {
  Pipe pipe(call.run());
  Result<void> was_read;
  std::thread reader;
  try {
    SignalsBlocked inherited_by_the_thread;
    reader = std::thread([&] {
      try {
        was_read = read(pipe.in());
      } catch (const std::exception& e) {
        was_read = fail(BH_INTERNAL, std::string("reading failed: ") + e.what(), "exception");
      }
      pipe.end(was_read ? BH_OK : was_read.error().code);
    });
  } catch (const std::system_error& e) {
    return fail(BH_RESOURCE_EXHAUSTED, std::string("no thread can be started: ") + e.what(),
                "processes");
  }
  Result<void> was_written;
  try {
    was_written = write(pipe.out());
  } catch (const std::exception& e) {
    was_written = fail(BH_INTERNAL, std::string("writing failed: ") + e.what(), "exception");
  }
  pipe.leave();
  reader.join();
  if (!pipe.left_early()) {
    BH_TRY(std::move(was_read));
    return was_written;
  }
  BH_TRY(std::move(was_written));
  return fail(BH_INTERNAL, "the writer was content before it had read all; that is a fault of its plugin",
              "plugin_misuse");
}

}  // namespace bh
