// tools/call: what a tool answered (abi/schemas/tool_result.json), or why it could not, as a
// CallToolResult of a revision of MCP.
#pragma once

#include <bulkhead/host.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "mcp/json_view.h"
#include "mcp/protocol.h"

namespace bh::mcp {

using bulkhead::Fault;

// The bytes beside a result, kept until it comes. What is over a limit is dropped and its size
// remembered, so that the answer can say what is missing.
class Attachments {
 public:
  struct Item {
    std::string media_type;
    std::string bytes;
    size_t dropped = 0;
  };
  // `room` is what may still be kept; gives back how much of it was taken.
  size_t add(std::string_view name, std::string_view media_type, std::string_view bytes,
             size_t room);
  // One that comes in pieces is larger than what is kept: its bytes are counted as they pass.
  void begin_dropped(int32_t stream, std::string_view name, std::string_view media_type);
  void drop(int32_t stream, size_t bytes);
  const Item* find(const std::string& name) const;
  size_t size() const { return size_; }

 private:
  std::map<std::string, Item> items_;
  std::map<int32_t, std::string> streams_;  // to names
  size_t size_ = 0;
};

// False, and nothing appended, where the host's text is no tool result at all.
bool append_call_result(std::string& out, std::string_view tool_result,
                        const Attachments& attachments, const Features& known);

// A result with isError: one text for the model, which begins as the Python SDK's servers have it
// ("Error executing tool NAME: "), and the fault whole in _meta["bulkhead/fault"].
std::string fault_result_text(const Fault& fault, std::string_view tool);
// {"code":"NOT_FOUND","message":"...","details":{...}}
std::string fault_text(const Fault& fault);
// The stable word, or empty.
std::string fault_reason(const Fault& fault);

}  // namespace bh::mcp
