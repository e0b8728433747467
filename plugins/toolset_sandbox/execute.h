// sandbox_execute: a piece of code in one of three languages, under the name and with the answer
// that Nous documents.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_execute(Request& request);

}  // namespace toolset_sandbox
