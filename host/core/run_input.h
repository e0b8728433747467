// The input of a run whose embedder announced it: a bounded buffer between bh_run_send and
// receive(). Shares its run's lock and condition, so one wait covers bytes and reasons to stop.
#pragma once

#include <string>
#include <string_view>

#include "core/run.h"

namespace bh {

class Run::Sent final : public Input {
 public:
  explicit Sent(Run& run) : run_(run) {}
  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
  bh_fd fd() override { return ready_.get(); }
  void end() override;

  Result<std::size_t> send(std::string_view bytes);
  Result<void> send_end();

 private:
  void tell_room();

  Run& run_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool ended_ = false;      // the sender has no more
  bool unread_ = false;     // the reader wants no more
  bool want_room_ = false;  // the sender waits for BH_EVENT_ROOM
  ReadyFd ready_;
};

}  // namespace bh
