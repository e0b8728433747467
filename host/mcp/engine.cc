#include "mcp/engine.h"

#include <algorithm>

#include "mcp/json_writer.h"

namespace bh::mcp {

Engine::Engine(HostPort& host, Send send, EngineOptions options)
    : options_(std::move(options)),
      outbox_(std::move(send)),
      calls_(host, outbox_, options_.limits),
      logs_(host, outbox_, options_.limits) {}

void Engine::feed(std::string_view text) {
  if (shut_down_) return;
  Message message = read_message(text);
  bool cancels =
      message.kind == Message::notification && message.method == "notifications/cancelled";
  if (cancels || (!congested_ && deferred_.empty()))
    handle(message);
  else
    defer(text, message);
}

void Engine::refuse_too_long() {
  outbox_.error({}, error::invalid_request,
                "A message was longer than " + std::to_string(limits().message_bytes) +
                    " bytes and was left out; send less in one message.",
                R"({"reason":"message_too_long","limit_bytes":)" +
                    std::to_string(limits().message_bytes) + "}");
}

void Engine::defer(std::string_view text, const Message& message) {
  Deferred d{std::string(text), {}};
  if (message.kind == Message::request) d.key = id_key(message.id);
  deferred_bytes_ += d.text.size();
  deferred_.push_back(std::move(d));
}

void Engine::set_congested(bool congested) {
  congested_ = congested;
  // An answer may congest the way out again; the rest then waits for the next time.
  while (!congested_ && !deferred_.empty() && !shut_down_) {
    Deferred d = std::move(deferred_.front());
    deferred_.pop_front();
    deferred_bytes_ -= d.text.size();
    handle(read_message(d.text));
  }
}

void Engine::on_event(const HostEvent& event) {
  auto now = options_.now();
  if (!calls_.on_event(event, now)) logs_.on_event(event, now);
}

void Engine::shut_down() {
  shut_down_ = true;
  deferred_.clear();
  deferred_bytes_ = 0;
  logs_.stop();
  calls_.stop_all();
}

void Engine::handle(const Message& message) {
  if (message.kind == Message::batch)
    handle_batch(message);
  else
    handle_one(message, nullptr);
}

void Engine::handle_batch(const Message& message) {
  size_t count = 0;
  message.elements.each_element([&](JsonView) { ++count; });
  std::string wrong;
  if (!revision_ || !Features(*revision_).batches)
    wrong = "Batches are part of revision 2025-03-26 alone; send one message at a time.";
  else if (count == 0)
    wrong = "A batch must not be empty.";
  else if (count > limits().batch_elements)
    wrong = "A batch has at most " + std::to_string(limits().batch_elements) + " elements.";
  if (!wrong.empty()) {
    outbox_.error({}, error::invalid_request, wrong);
    return;
  }
  auto batch = std::make_shared<Batch>(outbox_.send(), limits().batch_bytes);
  batch->expect();  // held open until all its elements are read
  message.elements.each_element([&](JsonView element) {
    Message one = classify(element);
    if (one.kind == Message::batch) {
      one.kind = Message::bad;
      one.code = error::invalid_request;
      one.reason = "A batch does not hold batches.";
    }
    handle_one(one, batch);
  });
  batch->settle();
}

void Engine::handle_one(const Message& message, const std::shared_ptr<Batch>& batch) {
  ReplyTo to{std::string(message.id.raw()), batch};
  switch (message.kind) {
    case Message::request:
      if (batch) batch->expect();
      request(message, to);
      break;
    case Message::bad:
      if (batch) batch->expect();
      outbox_.error(to, message.code, message.reason);
      break;
    case Message::notification:
      notification(message);
      break;
    default:
      break;
  }
}

void Engine::request(const Message& message, const ReplyTo& to) {
  const std::string& method = message.method;
  bool known = method == "initialize" || method == "ping" || method == "tools/list" ||
               method == "tools/call" || method == "logging/setLevel";
  if (!known) {
    outbox_.error(to, error::method_not_found,
                  "There is no method \"" + method.substr(0, 128) + "\".");
    return;
  }
  if (message.params && !message.params.is(JsonKind::object)) {
    outbox_.error(to, error::invalid_params, "\"params\" must be an object.");
    return;
  }
  if (method == "ping") {
    outbox_.result(to, "{}");
    return;
  }
  if (method == "initialize") {
    initialize(message, to);
    return;
  }
  if (!revision_) {
    outbox_.error(to, error::invalid_request,
                  "The session is not initialized; send initialize first.");
    return;
  }
  if (method == "logging/setLevel") {
    set_log_level(message, to);
    return;
  }
  std::string key = id_key(message.id);
  if (calls_.in_progress(key)) {
    outbox_.error(to, error::invalid_request,
                  "A request with this id is still in progress; ids are used once.");
    return;
  }
  Features features(*revision_);
  if (method == "tools/list")
    calls_.list(to, key, message.params, features);
  else
    calls_.call(to, key, message.params, features);
}

void Engine::initialize(const Message& message, const ReplyTo& to) {
  JsonView asked = message.params.member("protocolVersion");
  const char* wrong = nullptr;
  if (revision_)
    wrong = "The session is initialized already.";
  else if (to.batch)
    wrong = "initialize must not be part of a batch.";
  if (wrong != nullptr) {
    outbox_.error(to, error::invalid_request, wrong);
    return;
  }
  if (!asked.is(JsonKind::string)) {
    outbox_.error(to, error::invalid_params, "\"protocolVersion\" must be a string.");
    return;
  }
  revision_ = revision_of(asked.text()).value_or(newest_revision);
  std::string out;
  ObjectWriter w(out);
  w.text("protocolVersion", revision_text(*revision_));
  w.value("capabilities") += R"({"logging":{},"tools":{}})";
  ObjectWriter info(w.value("serverInfo"));
  info.text("name", "bulkhead");
  if (Features(*revision_).titles) info.text("title", "Bulkhead");
  info.text("version", options_.version);
  info.close();
  if (!options_.instructions.empty() && *revision_ > Revision::v2024_10_07)
    w.text("instructions", options_.instructions);
  w.close();
  outbox_.result(to, out);
}

void Engine::set_log_level(const Message& message, const ReplyTo& to) {
  JsonView asked = message.params.member("level");
  auto level = asked.is(JsonKind::string) ? log_level_of(asked.text()) : std::nullopt;
  if (!level) {
    outbox_.error(to, error::invalid_params,
                  "\"level\" must be one of debug, info, notice, warning, error, critical, alert, "
                  "emergency.");
    return;
  }
  if (Fault fault = logs_.set_level(*level))
    outbox_.error(to, error::internal, "The log cannot be followed: " + fault.message(),
                  fault_text(fault));
  else
    outbox_.result(to, "{}");
}

void Engine::notification(const Message& message) {
  // notifications/initialized changes nothing: answers are given from initialize on.
  if (message.method == "notifications/cancelled") cancel(message.params);
}

void Engine::cancel(JsonView params) {
  JsonView id = params.member("requestId");
  if (!id.is(JsonKind::string) && !id.is(JsonKind::number)) return;
  std::string key = id_key(id);
  calls_.cancel(key);
  auto waiting = std::find_if(deferred_.begin(), deferred_.end(),
                              [&](const Deferred& d) { return d.key == key; });
  if (waiting == deferred_.end()) return;
  deferred_bytes_ -= waiting->text.size();
  deferred_.erase(waiting);
}

}  // namespace bh::mcp
