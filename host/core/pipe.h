// Bytes from one call to another of the same run, each on a thread of its own: what a plugin emits
// is what another receives. Holds a fixed amount; the faster of the two waits.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "core/input.h"
#include "core/ready_fd.h"
#include "core/sink.h"

namespace bh {

class Run;

// Lets `read` fill what `write` empties, `read` on a thread of its own and `write` on the caller's,
// until both are done. The error is that of whichever failed first; `write` gets no end before
// `read` has succeeded. RESOURCE_EXHAUSTED (`processes`) where there is no thread left. [blocking]
Result<void> pipe_through(Call& call, const std::function<Result<void>(Sink&)>& read,
                          const std::function<Result<void>(Input&)>& write);

// All [any], but that one thread writes and one reads. Lives on the stack of who moves the bytes.
class Pipe {
 public:
  static constexpr std::size_t kHeld = 256u << 10;

  explicit Pipe(Run& run);

  // What the writing call answers to: BH_STREAM_DATA goes in, all else is dropped.
  Sink& in() { return in_; }
  // What the reading call receives.
  Input& out() { return out_; }

  // The writer is done. Other than BH_OK: the reader is not to take what it got for the whole, so
  // receive() says that code in place of the end.
  void end(bh_status outcome);
  // The reader is done; who still writes is stopped.
  void leave();

  // The reader was done before the writer was.
  bool left_early() const;

 private:
  class In final : public NullSink {
   public:
    explicit In(Pipe& pipe) : pipe_(pipe) {}
    bh_status emit(Call& from, int stream, std::string_view bytes) override;

   private:
    Pipe& pipe_;
  };
  class Out final : public Input {
   public:
    explicit Out(Pipe& pipe) : pipe_(pipe) {}
    bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
    bh_fd fd() override { return pipe_.ready_.get(); }
    void end() override { pipe_.leave(); }

   private:
    Pipe& pipe_;
  };

  bh_status put(Call& from, std::string_view bytes);
  bh_status take(Call& call, void* buffer, std::size_t size, std::size_t* got);

  Run& run_;  // its lock guards all below: one wait covers bytes and reasons to stop
  std::string ring_;
  std::size_t begin_ = 0;
  std::size_t held_ = 0;
  bool ended_ = false;
  bool left_ = false;
  bool left_early_ = false;
  bh_status outcome_ = BH_OK;
  ReadyFd ready_;
  In in_{*this};
  Out out_{*this};
};

}  // namespace bh
