// What the sandbox operations' arguments say about the sandbox.
#pragma once

#include "base/json.h"
#include "sandbox/profile.h"

namespace bh {

// The members backend, workspace and profile.
SandboxWish wish_of(const json::object& args);

}  // namespace bh
