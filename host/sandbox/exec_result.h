// How sandbox.exec tells what became of a command.
#pragma once

#include <bulkhead/isolation.h>

#include <cstdint>
#include <string>

#include "base/json.h"

namespace bh {

// A bh_exit with every default set, as a plugin gets it.
bh_exit fresh_exit();

// "code", "signal", "memory", "time", "output", "policy", "stopped", "lost" or "unknown".
std::string_view exit_reason(std::int32_t reason);

// The members exit, output_open, leftovers, wall_ms, cpu_ms and peak_bytes.
json::object exit_members(const bh_exit& exit);

}  // namespace bh
