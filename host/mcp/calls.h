// The requests that take their time: tools/list and tools/call, each an operation of the host.
// They run side by side; an answer goes out when its operation ends, in whatever order that is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mcp/host_port.h"
#include "mcp/json_view.h"
#include "mcp/limits.h"
#include "mcp/outbox.h"
#include "mcp/progress.h"
#include "mcp/protocol.h"
#include "mcp/results.h"

namespace bh::mcp {

// Used from one thread. Borrows the host and the outbox.
class Calls {
 public:
  Calls(HostPort& host, Outbox& outbox, const Limits& limits)
      : host_(host), outbox_(outbox), limits_(limits) {}

  void list(const ReplyTo& to, const std::string& key, JsonView params, const Features& known);
  void call(const ReplyTo& to, const std::string& key, JsonView params, const Features& known);

  bool in_progress(const std::string& key) const { return by_key_.count(key) != 0; }
  // Stops the work; no answer is sent any more. Nothing happens where there is no such call.
  void cancel(const std::string& key);
  // Stops every tool. Their answers, that they were stopped, are still sent.
  void stop_all();
  // Operations whose last event has not come yet, cancelled ones too.
  size_t size() const { return calls_.size(); }

  // False where the event belongs to no call.
  bool on_event(const HostEvent& event, Clock::time_point now);

  std::optional<Clock::time_point> wake_at() const;
  void tick(Clock::time_point now);

 private:
  struct Call {
    Call(ReplyTo to, std::string k, const Features& f)
        : reply(std::move(to)), key(std::move(k)), known(f) {}
    ReplyTo reply;
    std::string key;
    Features known;
    bool is_list = false;
    bool cancelled = false;
    size_t argument_bytes = 0;
    Progress progress;
    Attachments attachments;
    std::vector<std::string> items;  // of a list
    std::string after;               // of a list: the tool that its cursor names
    std::string tool;                // of a call: its name
  };

  void add(uint64_t tag, Call&& call);
  void send_progress(Call& call, Clock::time_point now, bool at_the_end);
  void attach(Call& call, const HostEvent& event);
  void end(Call& call, const HostEvent& event);
  void end_list(Call& call, const HostEvent& event);
  void end_tool(Call& call, const HostEvent& event);

  HostPort& host_;
  Outbox& outbox_;
  const Limits& limits_;
  uint64_t next_tag_ = 1;
  std::unordered_map<uint64_t, Call> calls_;
  std::unordered_map<std::string, uint64_t> by_key_;
  size_t argument_bytes_ = 0;
  size_t attachment_bytes_ = 0;
  bool progress_wanted_ = false;  // by one of calls_, or lately
};

}  // namespace bh::mcp
