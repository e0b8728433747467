// The tools of this plugin: one definition and one handler each. Each turns into one or two of the
// host's operations files.*; whose files they are is settled there.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <string>
#include <string_view>

namespace toolset_files {

namespace sdk = bulkhead::sdk;
namespace json = sdk::json;

sdk::Tool put_tool();
sdk::Result<sdk::ToolResult> put(sdk::Call& call, std::string_view args, sdk::Blobs blobs);

sdk::Tool get_tool();
sdk::Result<sdk::ToolResult> get(sdk::Call& call, std::string_view args);

sdk::Tool list_tool();
sdk::Result<sdk::ToolResult> list(sdk::Call& call, std::string_view args);

sdk::Tool remove_tool();
sdk::Result<sdk::ToolResult> remove(sdk::Call& call, std::string_view args);

sdk::Tool copy_to_tool();
sdk::Result<sdk::ToolResult> copy_to(sdk::Call& call, std::string_view args);

sdk::Tool copy_from_tool();
sdk::Result<sdk::ToolResult> copy_from(sdk::Call& call, std::string_view args);

// The members of `from` that the operation takes under the same names; null is as good as absent.
void pass(const json::object& from, std::initializer_list<std::string_view> keys, json::object& to);

// Runs the operation and gives its result.
sdk::Result<json::object> run(sdk::Call& call, sdk::Operation operation, const json::object& args);

// "5 bytes", "64.0 KiB", "1.5 GiB".
std::string amount(int64_t bytes);

}  // namespace toolset_files
