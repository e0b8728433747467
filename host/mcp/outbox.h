// Where answers go: to the client one by one or, when they were asked for in a batch, together
// when the last one is there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bh::mcp {

// Takes one complete message, on one line, without its newline.
using Send = std::function<void(std::string&&)>;

// The answers of one batch. Sent when all its requests are answered or will not be; a batch
// without an answer sends nothing.
class Batch {
 public:
  Batch(Send send, size_t most_bytes) : send_(std::move(send)), most_bytes_(most_bytes) {}
  void expect() { ++open_; }
  void settle() {
    if (--open_ == 0 && !text_.empty()) send_(std::move(text_ += ']'));
  }
  bool fits(size_t bytes) const { return text_.size() + bytes <= most_bytes_; }
  void add(std::string_view answer) {
    text_ += text_.empty() ? '[' : ',';
    text_ += answer;
  }

 private:
  Send send_;
  size_t most_bytes_;
  size_t open_ = 0;
  std::string text_;
};

// Whom to answer. Each is used once: result(), error() or nothing().
struct ReplyTo {
  std::string id;  // as the client wrote it; empty where it could not be read
  std::shared_ptr<Batch> batch;
};

class Outbox {
 public:
  explicit Outbox(Send send) : send_(std::move(send)) {}
  void result(const ReplyTo& to, std::string_view body);
  // A whole message, result or error.
  void answer(const ReplyTo& to, std::string&& text);
  void error(const ReplyTo& to, int code, std::string_view message, std::string_view data = {});
  void nothing(const ReplyTo& to);  // it was cancelled
  void notify(std::string_view method, std::string_view params);
  const Send& send() const { return send_; }

 private:
  Send send_;
};

}  // namespace bh::mcp
