// sandbox_files: one tool for files, with the answers that Nous documents.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_files(Request& request);

// {name, path, is_dir, size} of a folder of the persona's own sandbox, or of `sandbox`; at most
// `most` of them. Needs sandbox.list_files.
sdk::Result<json::array> listed_files(sdk::Call& call, const std::string& sandbox,
                                      const std::string& path, size_t most);

}  // namespace toolset_sandbox
