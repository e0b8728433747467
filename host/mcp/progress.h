// notifications/progress of one call: what a tool reports, or else what it prints. Bounded however
// much is printed, throttled, and each value larger than the one before.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/json_view.h"

namespace bh::mcp {

using Clock = std::chrono::steady_clock;

class Progress {
 public:
  Progress() = default;
  // `token`: as the client wrote it. Without one nothing is kept and nothing is sent.
  Progress(std::string token, Clock::duration interval)
      : token_(std::move(token)), interval_(interval) {}

  bool wanted() const { return !token_.empty(); }
  // Bytes that the tool printed. The value is their count, the message the end of what is new.
  void printed(std::string_view bytes);
  // {"progress":NUMBER,"total":NUMBER,"message":TEXT} of the tool itself. From then on what it
  // prints is not reported: the two count different things.
  void reported(JsonView event);

  // When the next one may be sent; nothing where there is none.
  std::optional<Clock::time_point> due() const;
  // Its params, once it is due or, at the end of the call, at once; empty where there is none.
  std::string take(Clock::time_point now, bool at_the_end, bool with_message);

 private:
  std::string message();

  std::string token_;
  Clock::duration interval_{};
  Clock::time_point not_before_{};
  bool pending_ = false;
  bool tool_reports_ = false;
  double sent_ = -1;
  uint64_t printed_ = 0;
  uint64_t left_out_ = 0;
  std::string tail_;  // of what was printed since the last one
  std::string value_, total_, said_;
};

}  // namespace bh::mcp
