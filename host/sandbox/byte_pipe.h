// Bytes from one driver's function to another's in bounded memory: what one emits the other receives.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "core/call.h"
#include "core/input.h"
#include "core/ready_fd.h"
#include "core/run.h"
#include "core/sink.h"

namespace bh {

class BytePipe final : public Input {
 public:
  explicit BytePipe(Run& run) : run_(run) {}

  // The writer's side. Waits for room; BH_OUT_OF_RANGE when nobody reads any more. [serial]
  // [blocking]
  bh_status put(Call& from, std::string_view bytes);
  // No more comes. Not `whole`: the reader is told by BH_ABORTED, never by an end. [any]
  void finish(bool whole);

  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
  bh_fd fd() override { return ready_.get(); }
  void end() override;
  // The reader gave up before the writer was done. [any]
  bool cut() const;

 private:
  static constexpr std::size_t kHeld = 256u << 10;

  Run& run_;
  std::string held_;
  std::size_t begin_ = 0;
  bool finished_ = false, whole_ = true, unread_ = false, cut_ = false;
  ReadyFd ready_;
};

// Runs both at once, `produce` on a thread of its own, and says why it failed where one did. Both
// make their calls below `up`. [blocking]
Result<void> pipe_bytes(Call& up, const std::function<Result<void>(Sink&)>& produce,
                        const std::function<Result<void>(Input&)>& consume);

}  // namespace bh
