// The runtime's configuration: one JSON object, checked whole, unknown keys refused by name.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "operations/rooms.h"

namespace bh {

struct RuntimeConfig {
  HostSettings host;
  std::size_t workers = 256;
  std::string log_file;  // empty: none
  int log_level = BH_LOG_INFO;
};

// INVALID_ARGUMENT names the key, the reason and what would be right. Reads the environment for
// what the configuration leaves open (XDG_DATA_HOME, HOME, sockets of agents to hide).
Result<RuntimeConfig> read_config(std::string_view json);

// {"persona":NAME} or {"operator":true}.
Result<Session> read_session_config(std::string_view json);

}  // namespace bh
