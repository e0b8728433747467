#include "sandbox/byte_pipe.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>

namespace bh {
namespace {

class PipeSink final : public NullSink {
 public:
  explicit PipeSink(BytePipe& pipe) : pipe_(pipe) {}
  bh_status emit(Call& from, int stream, std::string_view bytes) override {
    return stream == BH_STREAM_DATA ? pipe_.put(from, bytes) : from.stop_reason();
  }

 private:
  BytePipe& pipe_;
};

Result<void> guarded(const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    return fail(BH_INTERNAL, std::string("copying failed: ") + e.what(), "exception");
  }
}

}  // namespace

bh_status BytePipe::put(Call& from, std::string_view bytes) {
  while (!bytes.empty()) {
    std::unique_lock lock(run_.mutex());
    auto room = [&] { return unread_ || held_.size() - begin_ < kHeld; };
    if (bh_status stop = run_.wait_for(from, lock, room)) return stop;
    if (unread_) {
      cut_ = true;
      return BH_OUT_OF_RANGE;
    }
    const std::size_t n = std::min(bytes.size(), kHeld - (held_.size() - begin_));
    if (begin_ != 0) {
      held_.erase(0, begin_);
      begin_ = 0;
    }
    held_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    ready_.set(true);
    run_.notify_locked();
  }
  return BH_OK;
}

void BytePipe::finish(bool whole) {
  std::lock_guard lock(run_.mutex());
  finished_ = true;
  whole_ = whole;
  ready_.set(true);
  run_.notify_locked();
}

bh_status BytePipe::receive(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  *got = 0;
  std::unique_lock lock(run_.mutex());
  auto readable = [&] { return begin_ < held_.size() || finished_ || unread_; };
  if (bh_status stop = run_.wait_for(call, lock, readable)) return stop;
  if (finished_ && !whole_) return BH_ABORTED;
  *got = std::min(size, held_.size() - begin_);
  if (*got != 0) std::memcpy(buffer, held_.data() + begin_, *got);
  begin_ += *got;
  if (begin_ == held_.size() && !finished_ && !unread_) ready_.set(false);
  run_.notify_locked();
  return BH_OK;
}

void BytePipe::end() {
  std::lock_guard lock(run_.mutex());
  if (!finished_) cut_ = true;
  unread_ = true;
  held_.clear();
  begin_ = 0;
  ready_.set(true);
  run_.notify_locked();
}

bool BytePipe::cut() const {
  std::lock_guard lock(run_.mutex());
  return cut_;
}

Result<void> pipe_bytes(Call& up, const std::function<Result<void>(Sink&)>& produce,
                        const std::function<Result<void>(Input&)>& consume) {
  BytePipe pipe(up.run());
  Result<void> produced;
  std::thread writer;
  // As a worker's: no signal of the embedder's is handled on it.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    writer = std::thread([&] {
      produced = guarded([&] {
        PipeSink sink(pipe);
        return produce(sink);
      });
      pipe.finish(produced.has_value());
    });
  } catch (const std::system_error& e) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return fail(BH_RESOURCE_EXHAUSTED, std::string("no thread can be started: ") + e.what(),
                "pool_full");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Result<void> consumed = guarded([&] { return consume(pipe); });
  pipe.end();
  writer.join();
  // Who failed first has the word; the other one only met that.
  if (!consumed && (pipe.cut() || produced)) return consumed;
  if (!produced) return produced;
  return consumed;
}

}  // namespace bh
