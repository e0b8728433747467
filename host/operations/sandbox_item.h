// How operations tell of a sandbox's record.
#pragma once

#include "base/json.h"
#include "core/session.h"
#include "state/sandbox_records.h"

namespace bh {

// As sandbox.get, without the enforcement report.
json::object sandbox_item(const Session& session, const SandboxRecord& record);

// The schema of that result's properties, without braces.
extern const char kSandboxItemProperties[];

}  // namespace bh
