// The tools about what is in files.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> file_read(Request& request);
sdk::Result<sdk::ToolResult> file_write(Request& request);
sdk::Result<sdk::ToolResult> file_replace_contents(Request& request);

// Part of a file: `args` are sandbox.read_file's. `most` bytes are taken; a longer answer is
// RESOURCE_EXHAUSTED. `told` gets the operation's result. Needs sandbox.read_file.
sdk::Result<std::string> read_bytes(sdk::Call& call, const json::object& args, size_t most,
                                    json::object& told);

}  // namespace toolset_sandbox
