// What the operator decided about sandboxes, out of the runtime's configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace bh {

struct SandboxSettings {
  std::string backend;            // empty: the first that can work
  bool allow_unisolated = false;  // "process" may be asked for
  std::map<std::string, json::object> backend_config;

  std::string workspace;          // the default one; empty: a folder of the persona's
  std::string network = "off";
  json::object limits;            // as in the profile
  std::vector<std::string> env_allow;

  std::string home;               // the user's: never a workspace
  std::vector<std::string> hide;  // what no sandbox may show
  // Of those, what we read our configuration and plugins from: nobody may make it where it is absent.
  std::vector<std::string> own;
};

}  // namespace bh
