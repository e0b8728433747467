// One output stream of a command, held in bounded memory: its head, its tail, and how much is
// missing between the two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace toolset_sandbox {

class Output {
 public:
  // 256 KiB in all, as the host keeps of what it collects itself.
  static constexpr size_t kHead = 128 * 1024;
  static constexpr size_t kTail = 128 * 1024;

  void add(std::string_view data);
  // What the host collected: the text with its own mark in it.
  void collected(std::string text, uint64_t bytes, uint64_t missing);

  uint64_t bytes() const { return bytes_; }
  uint64_t missing() const;
  // Head, a mark where something is missing, tail; U+FFFD for what is not UTF-8.
  std::string text() const;

 private:
  std::string head_;
  std::string tail_;  // up to twice kTail; the last kTail bytes of it count
  uint64_t bytes_ = 0;
  bool collected_ = false;
  uint64_t missing_ = 0;
};

}  // namespace toolset_sandbox
