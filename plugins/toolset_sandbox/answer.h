// What a tool answers: structured content, and the same as text that is indented by 2.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <cstdint>
#include <string>

namespace toolset_sandbox {

namespace sdk = bulkhead::sdk;
namespace json = bulkhead::sdk::json;

// JSON as text; `indent` 0 writes it on one line. Numbers that are whole stay 1.0 where they are
// doubles.
std::string print(const json::value& v, int indent);

// One text block. RESOURCE_EXHAUSTED where both together are more than one answer may be.
sdk::Result<sdk::ToolResult> answer(const json::object& structured);
// {"result": list}, and a text block for each of its items.
sdk::Result<sdk::ToolResult> answer_list(const json::array& list);
// {"status": word}
sdk::Result<sdk::ToolResult> answer_status(const char* word);

// "2026-11-30T10:15:34.743000Z"; the fraction is left out where it is 0.
std::string date_time(int64_t ms);
// The same, or null where the operation said null or nothing.
json::value date_time_or_null(const json::object& o, std::string_view key);
int64_t now_ms();

}  // namespace toolset_sandbox
