// Flags before environment before file, made into the library's configuration. Keys of the file
// that the program does not know pass through: the library names what it does not know either.
#pragma once

#include <optional>
#include <string>

#include "cli/config_file.h"
#include "cli/options.h"
#include "cli/problem.h"
#include "cli/surroundings.h"

namespace bh::cli {

// A value and who said it: "--net", "BULKHEAD_NET", "config file", "default".
struct Setting {
  std::string value;
  std::string source;
};

struct Setup {
  std::string runtime_config;  // JSON for bh_runtime_new
  std::string session_config;  // JSON for bh_session_new

  Setting persona;
  Setting backend;    // empty: the library chooses
  Setting workspace;  // empty: refused, and workspace_problem says why
  Setting network;
  Setting data_root;  // empty: the library's default
  std::optional<Problem> workspace_problem;

  ConfigFile file;
  Named named;  // where the parts of runtime_config and session_config come from
};

Result<Setup> make_setup(const Options& options, const Surroundings& around);

// For verbs whose work may need no workspace: where the current folder cannot be one, the persona's
// own folder under the data root is used, and this says so on stderr. A folder that somebody named
// is refused all the same.
Result<void> settle_workspace(const Setup& setup);

// Whether `path` can be a workspace: an existing folder, and neither HOME nor above it, because
// what is in a workspace can be read and written by every command. Returns it without symlinks.
Result<std::string> check_workspace(const std::string& path, const Surroundings& around);

}  // namespace bh::cli
