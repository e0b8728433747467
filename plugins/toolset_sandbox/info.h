// A sandbox as OpenSandbox describes it.
#pragma once

#include <string>

#include "tools.h"

namespace toolset_sandbox {

// Metadata under this prefix is the toolset's own: callers neither see nor set it.
extern const char kOwnMetadata[];
// Under it, the entrypoint as JSON text, for the sandbox's record has no place for it.
extern const char kEntrypointKey[];

// OpenSandbox's SandboxInfo from what sandbox.get, .list and .connect give.
json::object info_of(const json::object& sandbox);

// Asks for it. Needs sandbox.get.
sdk::Result<json::object> fetch_info(sdk::Call& call, const std::string& sandbox);

// {sandbox_id, info}
json::object with_id(const std::string& sandbox, json::object info);

}  // namespace toolset_sandbox
