#include "mcp/log_relay.h"

#include "mcp/json_writer.h"

namespace bh::mcp {

Fault LogRelay::set_level(LogLevel level) {
  uint64_t tag = next_tag_++;
  std::string args;
  ObjectWriter w(args);
  w.text("level", host_level_of(level));
  w.close();
  if (Fault fault = host_.start(tag, "log.follow", args)) return fault;
  stop();
  following_ = tag;
  level_ = level;
  return {};
}

void LogRelay::stop() {
  if (following_ == 0) return;
  ++ending_;
  uint64_t tag = following_;
  following_ = 0;
  host_.cancel(tag);
}

bool LogRelay::on_event(const HostEvent& event, Clock::time_point now) {
  if ((event.tag & mark) == 0) return false;
  bool current = event.tag == following_;
  if (event.last()) {
    if (!current) {
      --ending_;
      return true;
    }
    following_ = 0;
    if (event.kind == BH_EVENT_FAULT)
      send(LogLevel::warning, "bulkhead", "The log cannot be followed: " + event.fault.message(),
           {});
    return true;
  }
  if (current && event.kind == BH_EVENT_ITEM && !check_json(event.data))
    record(JsonView(event.data), now);
  return true;
}

void LogRelay::record(JsonView item, Clock::time_point now) {
  LogLevel level = log_level_of_host(item.member("level").text());
  if (level < level_ || !within_rate(now)) return;
  std::string logger = item.member("plugin").text();
  send(level, logger.empty() ? "bulkhead" : logger, item.member("message").text(),
       item.member("fields"));
}

// What a second brings above the limit is counted, and told with the first record after it.
bool LogRelay::within_rate(Clock::time_point now) {
  if (now - window_ >= std::chrono::seconds(1)) {
    window_ = now;
    in_window_ = 0;
    if (left_out_ != 0)
      send(LogLevel::warning, "bulkhead",
           std::to_string(left_out_) + " log records were left out: more came than are passed on.",
           {});
    left_out_ = 0;
  }
  if (in_window_ < limits_.logs_a_second) {
    ++in_window_;
    return true;
  }
  ++left_out_;
  return false;
}

void LogRelay::send(LogLevel level, std::string_view logger, std::string_view message,
                    JsonView fields) {
  std::string params;
  ObjectWriter w(params);
  w.text("level", log_level_text(level)).text("logger", logger);
  ObjectWriter data(w.value("data"));
  data.text("message", message);
  if (fields.is(JsonKind::object) && fields.raw() != "{}") data.raw("fields", fields);
  data.close();
  w.close();
  outbox_.notify("notifications/message", params);
}

}  // namespace bh::mcp
