// sandbox_run: one program with its arguments, without a shell.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_run(Request& request);

}  // namespace toolset_sandbox
