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

  // What stands for an image's name: {"root":"host"}, or {"image":NAME} of the store.
  std::map<std::string, json::object> images = {
      {"host", {{"root", "host"}}},
      {"opensandbox/code-interpreter:latest", {{"root", "host"}}}};
  std::int64_t lease_wait_ms = 5000;          // for a sandbox that another process uses
  std::int64_t idle_ms = 24 * 3'600'000;      // default sandboxes that nobody used are ended then
  std::int64_t most = 1000;                   // of one persona at once

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
