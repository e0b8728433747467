#include "mcp/calls.h"

#include <algorithm>

#include "mcp/json_writer.h"
#include "mcp/message.h"
#include "mcp/tools.h"

namespace bh::mcp {
namespace {

constexpr size_t longest_token = 4096;

// The token under which the client wants to hear of progress: empty where it does not, nothing
// where what it sent is none.
std::optional<std::string> progress_token(JsonView meta) {
  JsonView token = meta.member("progressToken");
  if (!token) return std::string();
  bool usable = token.is(JsonKind::string) || token.is(JsonKind::number);
  if (!usable || token.raw().size() > longest_token) return std::nullopt;
  return std::string(token.raw());
}

std::string call_arguments(JsonView name, JsonView arguments) {
  std::string out;
  out.reserve(name.raw().size() + arguments.raw().size() + 32);
  ObjectWriter w(out);
  w.raw("name", name);
  if (arguments.is(JsonKind::object))
    w.value("arguments") += arguments.raw();
  else
    w.value("arguments") += "{}";
  w.close();
  return out;
}

}  // namespace

void Calls::add(uint64_t tag, Call&& call) {
  argument_bytes_ += call.argument_bytes;
  progress_wanted_ = progress_wanted_ || call.progress.wanted();
  by_key_.emplace(call.key, tag);
  calls_.emplace(tag, std::move(call));
}

void Calls::list(const ReplyTo& to, const std::string& key, JsonView params,
                 const Features& known) {
  Call call(to, key, known);
  call.is_list = true;
  if (JsonView cursor = params.member("cursor")) {
    auto tool = cursor.is(JsonKind::string) ? tool_of_cursor(cursor.text()) : std::nullopt;
    if (!tool) {
      outbox_.error(to, error::invalid_params,
                    "The cursor is none that tools/list gave; leave it out to begin anew.");
      return;
    }
    call.after = *tool;
  }
  if (calls_.size() >= limits_.calls) {
    outbox_.error(to, error::internal, "Too many requests are in progress; wait for one to end.");
    return;
  }
  uint64_t tag = next_tag_++;
  if (Fault fault = host_.start(tag, "tool.list", "{}")) {
    outbox_.error(to, error::internal, "The tools cannot be listed: " + fault.message(),
                  fault_text(fault));
    return;
  }
  add(tag, std::move(call));
}

void Calls::call(const ReplyTo& to, const std::string& key, JsonView params,
                 const Features& known) {
  auto [name, arguments, meta] = params.members<3>({"name", "arguments", "_meta"});
  auto token = progress_token(meta);
  const char* wrong = nullptr;
  if (!name.is(JsonKind::string))
    wrong = "\"name\" must be a string: the tool to call.";
  else if (arguments && !arguments.is(JsonKind::object) && !arguments.is(JsonKind::null))
    wrong = "\"arguments\" must be an object.";
  else if (!token)
    wrong = "\"_meta.progressToken\" must be a string or a number of at most 4096 characters.";
  if (wrong != nullptr) {
    outbox_.error(to, error::invalid_params, wrong);
    return;
  }
  Call call(to, key, known);
  call.tool = name.text();
  call.argument_bytes = arguments.raw().size();
  call.progress = Progress(*token, limits_.progress_interval);
  bool too_many = calls_.size() >= limits_.calls;
  if (too_many || argument_bytes_ + call.argument_bytes > limits_.argument_bytes) {
    std::string what =
        too_many ? "Too many calls are in progress (" + std::to_string(limits_.calls) + ")"
                 : std::string("The calls in progress hold too many bytes of arguments");
    outbox_.result(to, fault_result_text(Fault(BH_RESOURCE_EXHAUSTED,
                                               what + "; wait for one to end, then call again.",
                                               R"({"reason":"too_many_calls"})"),
                                         call.tool));
    return;
  }
  uint64_t tag = next_tag_++;
  if (Fault fault = host_.start(tag, "tool.call", call_arguments(name, arguments))) {
    outbox_.result(to, fault_result_text(fault, call.tool));
    return;
  }
  add(tag, std::move(call));
}

void Calls::cancel(const std::string& key) {
  auto at = by_key_.find(key);
  if (at == by_key_.end()) return;
  uint64_t tag = at->second;
  by_key_.erase(at);
  Call& call = calls_.at(tag);
  call.cancelled = true;
  call.progress = Progress();
  host_.cancel(tag);
  ReplyTo to = std::move(call.reply);
  call.reply = {};
  outbox_.nothing(to);
}

void Calls::stop_all() {
  for (auto& [tag, call] : calls_) {
    if (call.is_list) continue;
    call.progress = Progress();
    host_.cancel(tag);
  }
}

bool Calls::on_event(const HostEvent& event, Clock::time_point now) {
  auto at = calls_.find(event.tag);
  if (at == calls_.end()) return false;
  Call& call = at->second;
  switch (event.kind) {
    case BH_EVENT_OUTPUT:
      if (event.stream >= BH_STREAM_ATTACHED) {
        call.attachments.drop(event.stream, event.data.size());
      } else {
        call.progress.printed(event.data);
      }
      break;
    case BH_EVENT_PROGRESS:
      if (call.progress.wanted() && !check_json(event.data))
        call.progress.reported(JsonView(event.data));
      break;
    case BH_EVENT_ITEM:
      if (call.is_list && !call.cancelled && !check_json(event.data))
        call.items.emplace_back(event.data);
      break;
    case BH_EVENT_ATTACHMENT:
      if (!call.cancelled) attach(call, event);
      break;
    default:
      break;
  }
  if (!event.last()) {
    send_progress(call, now, false);
    return true;
  }
  send_progress(call, now, true);
  // What is sent may come back here through the transport, so the call is taken out first.
  auto taken = calls_.extract(at);
  Call& ended = taken.mapped();
  argument_bytes_ -= ended.argument_bytes;
  attachment_bytes_ -= ended.attachments.size();
  if (ended.cancelled) return true;
  by_key_.erase(ended.key);
  end(ended, event);
  return true;
}

void Calls::send_progress(Call& call, Clock::time_point now, bool at_the_end) {
  std::string params = call.progress.take(now, at_the_end, call.known.progress_message);
  if (!params.empty()) outbox_.notify("notifications/progress", params);
}

void Calls::attach(Call& call, const HostEvent& event) {
  if (event.stream >= BH_STREAM_ATTACHED) {
    const size_t kept = call.attachments.size();
    call.attachments.begin_dropped(event.stream, event.name, event.type);
    // One of that name from before has made room.
    attachment_bytes_ -= kept - call.attachments.size();
    return;
  }
  size_t own =
      limits_.attachment_bytes - std::min(limits_.attachment_bytes, call.attachments.size());
  size_t all =
      limits_.all_attachment_bytes - std::min(limits_.all_attachment_bytes, attachment_bytes_);
  size_t before = call.attachments.size();
  call.attachments.add(event.name, event.type, event.data, std::min(own, all));
  attachment_bytes_ += call.attachments.size() - before;
}

void Calls::end(Call& call, const HostEvent& event) {
  if (call.is_list)
    end_list(call, event);
  else
    end_tool(call, event);
}

void Calls::end_list(Call& call, const HostEvent& event) {
  if (event.kind == BH_EVENT_FAULT) {
    outbox_.error(call.reply, error::internal,
                  "The tools cannot be listed: " + event.fault.message(), fault_text(event.fault));
    return;
  }
  auto page = tools_page(call.items, call.after, limits_.page_tools, call.known);
  if (page)
    outbox_.result(call.reply, *page);
  else
    outbox_.error(call.reply, error::invalid_params,
                  "The cursor is from before the list of tools changed; leave it out to begin "
                  "anew.");
}

void Calls::end_tool(Call& call, const HostEvent& event) {
  if (event.kind == BH_EVENT_FAULT) {
    if (event.fault.code() == BH_NOT_FOUND && fault_reason(event.fault) == "unknown_tool")
      outbox_.error(call.reply, error::invalid_params, event.fault.message(),
                    fault_text(event.fault));
    else
      outbox_.result(call.reply, fault_result_text(event.fault, call.tool));
    return;
  }
  // Written once, where it is sent from.
  std::string answer;
  answer.reserve(event.data.size() + call.reply.id.size() + 128);
  begin_result(answer, call.reply.id);
  if (append_call_result(answer, event.data, call.attachments, call.known)) {
    end_result(answer);
    outbox_.answer(call.reply, std::move(answer));
  } else {
    outbox_.error(call.reply, error::internal, "The tool's answer is not a tool result.");
  }
}

std::optional<Clock::time_point> Calls::wake_at() const {
  std::optional<Clock::time_point> first;
  if (!progress_wanted_) return first;
  for (const auto& [tag, call] : calls_) {
    auto due = call.progress.due();
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

void Calls::tick(Clock::time_point now) {
  if (!progress_wanted_) return;
  progress_wanted_ = false;
  for (auto& [tag, call] : calls_) {
    send_progress(call, now, false);
    progress_wanted_ = progress_wanted_ || call.progress.wanted();
  }
}

}  // namespace bh::mcp
