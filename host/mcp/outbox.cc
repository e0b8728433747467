#include "mcp/outbox.h"

#include "mcp/message.h"
#include "mcp/protocol.h"

namespace bh::mcp {

void Outbox::answer(const ReplyTo& to, std::string&& text) {
  if (!to.batch) {
    send_(std::move(text));
    return;
  }
  if (to.batch->fits(text.size()))
    to.batch->add(text);
  else
    to.batch->add(error_text(to.id, error::internal,
                             "The answers of this batch are too large for one message; send its "
                             "requests one by one."));
  to.batch->settle();
}

void Outbox::result(const ReplyTo& to, std::string_view body) {
  answer(to, result_text(to.id, body));
}

void Outbox::error(const ReplyTo& to, int code, std::string_view message, std::string_view data) {
  answer(to, error_text(to.id, code, message, data));
}

void Outbox::nothing(const ReplyTo& to) {
  if (to.batch) to.batch->settle();
}

void Outbox::notify(std::string_view method, std::string_view params) {
  send_(notification_text(method, params));
}

}  // namespace bh::mcp
