// The tools about where files and folders lie.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> file_delete(Request& request);
sdk::Result<sdk::ToolResult> file_search(Request& request);
sdk::Result<sdk::ToolResult> file_create_directories(Request& request);
sdk::Result<sdk::ToolResult> file_delete_directories(Request& request);
sdk::Result<sdk::ToolResult> file_move(Request& request);

// OpenSandbox's EntryInfo from an item of sandbox.list_files.
json::object entry_of(const json::object& item);

// Runs an operation that gives such items. Needs that operation.
sdk::Result<json::array> entries_of(sdk::Call& call, const char* operation,
                                    const json::object& args, json::object& told);

}  // namespace toolset_sandbox
