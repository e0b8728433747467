// What a call reads while it goes on: nothing, bytes known beforehand, or what the embedder sends.
#pragma once

#include <bulkhead/base.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/ready_fd.h"

namespace bh {

class Call;

class Input {
 public:
  Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  virtual ~Input() = default;
  // Waits for the next bytes, at most `size`; *got == 0: the input has ended. BH_CANCELLED or
  // BH_DEADLINE_EXCEEDED when `call` has a reason to stop first. [serial] [blocking]
  virtual bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) = 0;
  // Readable when receive() would not wait. [any]
  virtual bh_fd fd() = 0;
  // Nobody will read the rest. [any]
  virtual void end() = 0;
  // False: nobody sends anything, which is not the same as a sender that has nothing. [any]
  virtual bool announced() const { return true; }
};

// Bytes that were there before the call (a toolset's blob "input").
class KnownInput final : public Input {
 public:
  explicit KnownInput(std::string_view bytes) : rest_(bytes) { ready_.set(true); }
  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
  bh_fd fd() override { return ready_.get(); }
  void end() override { rest_ = {}; }

 private:
  std::string_view rest_;  // borrowed from who makes the call
  ReadyFd ready_;
};

// No input: always at its end.
class NoInput final : public Input {
 public:
  NoInput() { ready_.set(true); }
  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
  bh_fd fd() override { return ready_.get(); }
  void end() override {}
  bool announced() const override { return false; }

 private:
  ReadyFd ready_;
};

}  // namespace bh
