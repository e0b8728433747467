// What a caller says of a command that is to run: the arguments that sandbox.exec and job.start share.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"
#include "sandbox/backends.h"
#include "sandbox/lease.h"

namespace bh {

// argv as bytes: text, or {"base64"} for what is no UTF-8.
Result<std::vector<std::string>> argv_of(const json::object& args);

// The driver's options: what the caller says of this command, its time limit among them.
json::object options_of(const json::object& args, const json::object& env_of_sandbox);

// Older and weaker backends refuse what they do not understand; nothing is dropped.
Result<void> check_options(const OpenedBackend& opened, const json::object& options);

// The sandbox that is named, or the persona's default one of that shape.
Result<Use> sandbox_for(Call& call, const json::object& args);

// The schema's properties for these, without braces.
std::string command_properties();

}  // namespace bh
