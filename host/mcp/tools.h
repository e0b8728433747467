// tools/list: the host's tool definitions (abi/schemas/tool.json) as a revision of MCP knows them,
// and the cursors that its pages are joined by.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/json_view.h"
#include "mcp/protocol.h"

namespace bh::mcp {

// The text of one tool. Schemas go out as the toolset wrote them.
std::string tool_text(JsonView definition, const Features& known);

// One page of `items` (texts of tool.json, in the host's order, which is fixed), as the result of
// tools/list: those behind the tool named `after`, or the first ones. Nothing where there is no
// such tool: the list has changed since that cursor was given.
std::optional<std::string> tools_page(const std::vector<std::string>& items, std::string_view after,
                                      size_t page_size, const Features& known);

std::string cursor_after(std::string_view tool);
// The name inside; nothing where we did not make the cursor.
std::optional<std::string> tool_of_cursor(std::string_view cursor);

}  // namespace bh::mcp
