// sandbox_create, and the waiting that it shares with sandbox_connect.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_create(Request& request);

// Until the sandbox says that it is healthy, for as long as the argument `timeout_key` says (30 s);
// at once where skip_health_check is set. UNAVAILABLE after that. [blocking]
sdk::Status until_ready(Request& request, const std::string& id, std::string_view timeout_key);

}  // namespace toolset_sandbox
