// logging/setLevel and notifications/message: the host's log for a client that asked for it.
#pragma once

#include <cstdint>
#include <optional>

#include "mcp/host_port.h"
#include "mcp/limits.h"
#include "mcp/outbox.h"
#include "mcp/progress.h"
#include "mcp/protocol.h"

namespace bh::mcp {

// Used from one thread. Borrows the host and the outbox. Its operations have tags with the highest
// bit set, which no call has.
class LogRelay {
 public:
  LogRelay(HostPort& host, Outbox& outbox, const Limits& limits)
      : host_(host), outbox_(outbox), limits_(limits) {}

  // From now on records of this level and above. A fault where the host's log cannot be followed.
  Fault set_level(LogLevel level);
  void stop();
  bool running() const { return following_ != 0 || ending_ != 0; }

  // False where the event is not of its making.
  bool on_event(const HostEvent& event, Clock::time_point now);

 private:
  void record(JsonView item, Clock::time_point now);
  void send(LogLevel level, std::string_view logger, std::string_view message, JsonView fields);
  bool within_rate(Clock::time_point now);

  static constexpr uint64_t mark = uint64_t{1} << 63;

  HostPort& host_;
  Outbox& outbox_;
  const Limits& limits_;
  LogLevel level_ = LogLevel::emergency;
  uint64_t next_tag_ = mark | 1;
  uint64_t following_ = 0;  // the tag of what is followed now
  uint64_t ending_ = 0;     // how many older ones have not ended yet
  Clock::time_point window_{};
  size_t in_window_ = 0;
  size_t left_out_ = 0;
};

}  // namespace bh::mcp
