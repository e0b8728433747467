// What a command writes, as OpenSandbox logs it: a message for each line, with the time at which it
// was whole.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "answer.h"

namespace toolset_sandbox {

// One stream. \n, \r and \r\n end a line; its text comes without them, an empty line as "\n". Kept
// is what fits beside the other stream into one answer: the first lines and the last ones, with a
// message in between that says how much is missing.
class Lines {
 public:
  explicit Lines(bool is_error) : is_error_(is_error) {}

  void add(std::string_view data, int64_t time_ms);
  // The last line may have had no end.
  void end(int64_t time_ms);

  json::array messages() const;
  uint64_t missing() const { return missing_; }

 private:
  struct Line {
    std::string text;
    int64_t time_ms;
    size_t cost;
  };
  // Of an answer of 8 MiB, two of these for each of two streams.
  static constexpr size_t kHalf = 1800 * 1024;
  // A line without end is cut here, so that memory stays bounded.
  static constexpr size_t kLongest = 256 * 1024;

  void finish(int64_t time_ms);
  void keep(Line line);

  const bool is_error_;
  std::string line_;
  bool after_cr_ = false;
  bool cut_ = false;  // what is in line_ goes on with a line that was cut
  std::deque<Line> head_;
  std::deque<Line> tail_;
  size_t head_cost_ = 0;
  size_t tail_cost_ = 0;
  uint64_t missing_ = 0;  // bytes
};

}  // namespace toolset_sandbox
