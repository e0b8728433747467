// Packages that a persona installs: prefixes of pip and npm in the sandbox's HOME, and the shell
// around commands that are to find them.
#pragma once

#include "tools.h"

namespace toolset_sandbox {

// `argv` with the prefixes in its environment. HOME is known inside only, so a shell sets it; the
// program takes the shell's place.
json::array with_packages(const json::array& argv);

// A script of our own, with the prefixes in its environment and `args` as its "$@".
json::array package_script(std::string_view script, const json::array& args);

struct Installed {
  bool ok = false;
  json::array installed;  // "name==1.0", "name@1.0"
  std::string output;
};

// Installs into the sandbox `id`, or into the persona's own where it is empty. `manager`: pip or
// npm. Failures are the caller's mistakes (a package that is no name, a network that is off); a
// package manager that says no is an Installed that is not ok. Needs host.inspect and sandbox.exec.
sdk::Result<Installed> install_packages(Request& request, const json::array& packages,
                                        std::string_view manager, const std::string& id,
                                        std::string_view field);

sdk::Result<sdk::ToolResult> sandbox_install(Request& request);

}  // namespace toolset_sandbox
