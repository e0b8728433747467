// The host as one plugin sees it: what bh_call.host points to. Kept by who loaded the plugin, until
// its shutdown() has returned.
#pragma once

#include <bulkhead/plugin.h>

#include <string>

namespace bh {

class Engine;

struct HostView : bh_host {
  HostView(Engine& of, std::string id);
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

  Engine& engine;
  std::string plugin;
};

}  // namespace bh
