// Output that is collected into a result: its head and its tail, in bounded memory, and how much
// lies between. Not for two threads at once.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bh {

class OutputKeeper {
 public:
  static constexpr std::size_t kHead = 128 * 1024;
  static constexpr std::size_t kTail = 128 * 1024;

  explicit OutputKeeper(std::size_t head = kHead, std::size_t tail = kTail);

  // Takes the bytes and copies what it keeps. Memory grows to head + tail and no further.
  void append(std::string_view bytes);

  std::uint64_t bytes() const { return total_; }
  // Bytes that are not kept.
  std::uint64_t missing() const { return total_ - head_.size() - tail_.size(); }

  // {"text": …, "bytes": all of them, "missing": those left out}. The gap stands in the text, on a
  // line of its own: "[... 12345 bytes left out ...]"; characters that it cuts are left out with
  // it. Output that is not UTF-8 comes as {"base64": …} instead: head and tail without a mark, the
  // gap after the first `head` bytes.
  boost::json::object result() const;

 private:
  std::string tail_text() const;  // the tail in order

  std::size_t head_limit_, tail_limit_;
  std::string head_;
  std::string tail_;            // a ring once it is full
  std::size_t tail_start_ = 0;  // the oldest byte of the ring
  std::uint64_t total_ = 0;
};

}  // namespace bh
