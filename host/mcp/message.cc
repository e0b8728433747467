#include "mcp/message.h"

#include "mcp/json_writer.h"
#include "mcp/protocol.h"

namespace bh::mcp {
namespace {

// Ids and progress tokens are kept while a call runs and sent back with each answer.
constexpr size_t longest_id = 4096;

Message bad(int code, std::string reason, JsonView id = {}) {
  Message m;
  m.code = code;
  m.reason = std::move(reason);
  m.id = id;
  return m;
}

bool usable_id(JsonView id) {
  return (id.is(JsonKind::string) || id.is(JsonKind::number)) && id.raw().size() <= longest_id;
}

}  // namespace

Message read_message(std::string_view text) {
  auto flaw = check_json(text);
  if (!flaw) return classify(JsonView(text));
  std::string where = " (at byte " + std::to_string(flaw->offset) + ")";
  if (!flaw->readable())
    return bad(error::parse, "The message is no JSON: " + flaw->what + where + ".");
  // It can be read, only not accepted: whoever waits for the answer gets it under its id.
  JsonView id = JsonView(text).member("id");
  return bad(error::invalid_request, "The message is refused: " + flaw->what + where + ".",
             usable_id(id) ? id : JsonView());
}

Message classify(JsonView value) {
  Message m;
  if (value.is(JsonKind::array)) {
    m.kind = Message::batch;
    m.elements = value;
    return m;
  }
  if (!value.is(JsonKind::object))
    return bad(error::invalid_request, "A message is a JSON object.");
  auto [id, method, version, params] =
      value.members<4>({"id", "method", "jsonrpc", "params"});
  bool has_id = usable_id(id);
  if (id && !has_id && (method || !id.is(JsonKind::null)))
    return bad(error::invalid_request,
               "\"id\" is a string or a number of at most 4096 characters.");
  if (!version.says("2.0"))
    return bad(error::invalid_request, "\"jsonrpc\" must be \"2.0\".", id);
  if (!method) {
    // Nothing is ever asked of the client, so an answer answers nothing; it is no mistake that
    // could be told to anybody.
    if (value.member("result") || value.member("error")) {
      m.kind = Message::response;
      return m;
    }
    return bad(error::invalid_request, "\"method\" is missing.", has_id ? id : JsonView());
  }
  if (!method.is(JsonKind::string))
    return bad(error::invalid_request, "\"method\" must be a string.", id);
  m.kind = has_id ? Message::request : Message::notification;
  m.id = id;
  m.method = method.text();
  m.params = params;
  return m;
}

std::string id_key(JsonView id) {
  return id.is(JsonKind::string) ? '"' + id.text() : std::string(id.raw());
}

void begin_result(std::string& out, std::string_view id) {
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  out += R"(,"result":)";
}

void end_result(std::string& out) { out += '}'; }

std::string result_text(std::string_view id, std::string_view body) {
  std::string out;
  out.reserve(id.size() + body.size() + 48);
  begin_result(out, id);
  out += body;
  end_result(out);
  return out;
}

std::string error_text(std::string_view id, int code, std::string_view message,
                       std::string_view data) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  out += id.empty() ? "null" : id;
  out += R"(,"error":)";
  ObjectWriter error(out);
  error.integer("code", code).text("message", message);
  if (!data.empty()) error.value("data") += data;
  error.close();
  out += '}';
  return out;
}

std::string notification_text(std::string_view method, std::string_view params) {
  std::string out;
  ObjectWriter w(out);
  w.text("jsonrpc", "2.0").text("method", method);
  w.value("params") += params;
  w.close();
  return out;
}

}  // namespace bh::mcp
