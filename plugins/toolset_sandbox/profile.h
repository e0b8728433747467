// From OpenSandbox's resource, network_policy and extensions to what sandbox.create takes: each is
// enforced by the sandbox that is made, or the call is refused.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

// The profile that sandbox_create's arguments ask for; empty where they ask for nothing.
// INVALID_ARGUMENT or UNIMPLEMENTED by the argument's name.
sdk::Result<json::object> profile_of(const Request& request);

// "500m", "2", "0.5": cores. INVALID_ARGUMENT for anything else.
sdk::Result<double> cores_of(std::string_view text);
// "512Mi", "1Gi", "2G", "1048576": bytes. INVALID_ARGUMENT for anything else.
sdk::Result<int64_t> bytes_of(std::string_view text);

}  // namespace toolset_sandbox
