// The tools about sandboxes that exist.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_connect(Request& request);
sdk::Result<sdk::ToolResult> sandbox_kill(Request& request);
sdk::Result<sdk::ToolResult> sandbox_get_info(Request& request);
sdk::Result<sdk::ToolResult> sandbox_list(Request& request);
sdk::Result<sdk::ToolResult> sandbox_renew(Request& request);
sdk::Result<sdk::ToolResult> sandbox_get_metrics(Request& request);
sdk::Result<sdk::ToolResult> sandbox_healthcheck(Request& request);
sdk::Result<sdk::ToolResult> sandbox_get_endpoint(Request& request);

// The argument sandbox_id of a tool that works on known sandboxes only.
sdk::Result<std::string> known_sandbox(Request& request);

}  // namespace toolset_sandbox
