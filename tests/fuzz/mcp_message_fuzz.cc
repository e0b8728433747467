// A client's line is read in place by the MCP engine, and by the library's JSON reader: what one
// reads the other reads too, and every message is of a kind that can be answered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "mcp/json_view.h"
#include "mcp/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool readable = !bh::mcp::check_json(text);
  const bool parsed = bh::json::parse(text).has_value();
  if (parsed && !readable) std::abort();
  // A number beyond a double's range passes through the engine as text; the library refuses it.
  const bool has_number = text.find_first_of("0123456789") != text.npos;
  if (readable && !parsed && !has_number) std::abort();
  bh::mcp::Message message = bh::mcp::read_message(text);
  if (message.kind == bh::mcp::Message::bad && (message.code == 0 || message.reason.empty())) {
    std::abort();
  }
  if (!readable && message.kind != bh::mcp::Message::bad) std::abort();
  if (message.kind == bh::mcp::Message::request) {
    const std::string answer = bh::mcp::result_text(bh::mcp::id_key(message.id), "{}");
    if (answer.empty()) std::abort();
  }
  return 0;
}
