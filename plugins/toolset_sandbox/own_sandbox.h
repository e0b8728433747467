// sandbox_info and sandbox_reset: the persona's own sandbox, made when it is first needed.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_info(Request& request);
sdk::Result<sdk::ToolResult> sandbox_reset(Request& request);

}  // namespace toolset_sandbox
