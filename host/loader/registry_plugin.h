// What the registry keeps of one plugin. For registry.cc and report.cc alone.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loader/registry.h"

namespace bh {

struct Registry::Plugin {
  std::string source;
  std::string path;  // its folder
  Trust trust;
  std::optional<Manifest> manifest;  // none: linked in, or its manifest could not be read
  Finding finding;
  EnteredPlugin entered;
  std::vector<std::string> remarks;

  bool offers(std::string_view interface, std::string_view id) const {
    if (finding.status == PluginStatus::shadowed) return false;
    if (!manifest) {
      return std::any_of(entered.providers.begin(), entered.providers.end(), [&](const auto& each) {
        return each->interface == interface && each->id == id;
      });
    }
    return std::any_of(manifest->provides.begin(), manifest->provides.end(), [&](const auto& each) {
      return each.interface == interface && each.id == id;
    });
  }
};

}  // namespace bh
