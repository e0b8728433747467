// file_list, file_upload and file_download.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> file_list(Request& request);
sdk::Result<sdk::ToolResult> file_upload(Request& request);
sdk::Result<sdk::ToolResult> file_download(Request& request);

}  // namespace toolset_sandbox
