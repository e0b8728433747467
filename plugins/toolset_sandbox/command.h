// command_run and command_interrupt.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> command_run(Request& request);
sdk::Result<sdk::ToolResult> command_interrupt(Request& request);

}  // namespace toolset_sandbox
