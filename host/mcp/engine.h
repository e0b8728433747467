// MCP without a transport: one client's session. Messages come in by feed(), what happens in the
// host by on_event(), and messages go out through the sink given at the beginning.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/calls.h"
#include "mcp/host_port.h"
#include "mcp/limits.h"
#include "mcp/log_relay.h"
#include "mcp/message.h"
#include "mcp/outbox.h"
#include "mcp/protocol.h"

namespace bh::mcp {

struct EngineOptions {
  Limits limits;
  std::string version;       // of the server, as it introduces itself
  std::string instructions;  // for the model; empty: none
  std::function<Clock::time_point()> now = &Clock::now;
};

// Used from one thread; never waits. Borrows the host, which must outlive it.
class Engine {
 public:
  Engine(HostPort& host, Send send, EngineOptions options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // One whole message of the client, whatever is in it.
  void feed(std::string_view message);
  // The transport met one that is longer than Limits::message_bytes, and left it out.
  void refuse_too_long();
  void on_event(const HostEvent& event);

  // While the client does not read, requests wait (notifications/cancelled does not), so that
  // answers do not pile up. wants_input(): more of them may be fed.
  void set_congested(bool congested);
  bool wants_input() const { return deferred_bytes_ < limits().deferred_bytes; }

  // No more input comes. Tools are stopped, and say so in their answers; lists are still answered.
  void shut_down();
  // Nothing is in progress any more.
  bool idle() const { return calls_.size() == 0 && !logs_.running(); }

  // When tick() has something to do; nothing: never.
  std::optional<Clock::time_point> wake_at() const { return calls_.wake_at(); }
  void tick() { calls_.tick(options_.now()); }

 private:
  struct Deferred {
    std::string text;
    std::string key;  // of a request: its id
  };

  const Limits& limits() const { return options_.limits; }
  void defer(std::string_view text, const Message& message);
  void handle(const Message& message);
  void handle_batch(const Message& message);
  void handle_one(const Message& message, const std::shared_ptr<Batch>& batch);
  void request(const Message& message, const ReplyTo& to);
  void notification(const Message& message);
  void initialize(const Message& message, const ReplyTo& to);
  void set_log_level(const Message& message, const ReplyTo& to);
  void cancel(JsonView params);

  EngineOptions options_;
  Outbox outbox_;
  Calls calls_;
  LogRelay logs_;
  std::optional<Revision> revision_;  // once initialize was answered
  bool congested_ = false;
  bool shut_down_ = false;
  std::deque<Deferred> deferred_;
  size_t deferred_bytes_ = 0;
};

}  // namespace bh::mcp
