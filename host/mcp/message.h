// One message of a client, told apart by what JSON-RPC 2.0 and MCP say a message is.
#pragma once

#include <string>
#include <string_view>

#include "mcp/json_view.h"

namespace bh::mcp {

// Borrows from the text that it was read from.
struct Message {
  enum Kind { request, notification, response, batch, bad };
  Kind kind = bad;
  JsonView id;         // as the client wrote it; absent where there is none that can be echoed
  std::string method;  // of requests and notifications
  JsonView params;     // absent, or whatever the client sent
  JsonView elements;   // of a batch
  int code = 0;        // of a bad one: the error to answer with
  std::string reason;  // the same, a sentence
};

// Checks the text (depth 128, no duplicate keys, UTF-8) and reads it.
Message read_message(std::string_view text);
// The same for an element of a batch, which has been checked with the whole.
Message classify(JsonView value);

// Two ids are the same exactly when their keys are: 1 and "1" differ, "a" and "\u0061" do not.
std::string id_key(JsonView id);

// {"jsonrpc":"2.0","id":ID,...}: `body` is the text of the result or of the error object.
// What stands before the body and after it, for a body that is written in its place.
void begin_result(std::string& out, std::string_view id);
void end_result(std::string& out);
std::string result_text(std::string_view id, std::string_view body);
std::string error_text(std::string_view id, int code, std::string_view message,
                       std::string_view data = {});
std::string notification_text(std::string_view method, std::string_view params);

}  // namespace bh::mcp
