// The schemas that OpenSandbox's MCP server 1.1.1 publishes for its 19 tools, as JSON text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace toolset_sandbox {

// What "#/$defs/NAME" stands for.
struct OpenSandboxModel {
  const char* name;
  const char* schema;
};

struct OpenSandboxTool {
  const char* name;
  const char* input;   // without its $defs
  const char* output;  // the same; "=NAME" is the model itself
};

const std::vector<OpenSandboxModel>& opensandbox_models();
const std::vector<OpenSandboxTool>& opensandbox_tools();  // in upstream's order

}  // namespace toolset_sandbox
