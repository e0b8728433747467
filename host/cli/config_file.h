// The operator's file. It may grant what nothing else can (isolation.allow_unisolated), so it is
// read only where nobody but its user, or root, can have written it.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "cli/options.h"
#include "cli/problem.h"
#include "cli/surroundings.h"

namespace bh::cli {

struct ConfigFile {
  std::string path;    // absolute; where it is, or would be
  std::string source;  // "--config", "BULKHEAD_CONFIG", "default"
  bool found = false;
  boost::json::object values;
};

// --config, else BULKHEAD_CONFIG, else $XDG_CONFIG_HOME/bulkhead/config.json. Only the last may be
// absent.
Result<ConfigFile> read_config_file(const Options& options, const Surroundings& around);

// A whole small file (at most `limit` bytes). `what` names it in the error.
Result<std::string> read_small_file(const std::string& path, const std::string& what,
                                    std::size_t limit);

// The same of what is open at `fd`, to its end.
Result<std::string> read_small_fd(int fd, const std::string& what, std::size_t limit);

// $XDG_CONFIG_HOME/bulkhead, by default ~/.config/bulkhead; empty where there is no home.
std::string default_config_dir(const Surroundings& around);

}  // namespace bh::cli
