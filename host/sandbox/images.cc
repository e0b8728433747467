#include "sandbox/images.h"

namespace bh {

Result<json::object> find_image(const SandboxSettings& settings, const std::string& name) {
  auto found = settings.images.find(name);
  if (found != settings.images.end()) return found->second;
  std::string known;
  for (const auto& [other, what] : settings.images) known += (known.empty() ? "" : ", ") + other;
  return fail(BH_NOT_FOUND,
              "there is no image " + json::quote(name) + "; known are: " +
                  (known.empty() ? "none" : known),
              "image_unknown",
              {{"field", "/image"},
               {"image", name},
               {"known", known},
               {"remedy", "take one of those; \"images\" in the configuration names them"}});
}

void report_image(json::object& report, const std::string& name) {
  if (name.empty()) return;
  json::array& rules = report["rules"].is_array() ? report["rules"].get_array()
                                                  : report["rules"].emplace_array();
  rules.push_back({{"rule", "image"},
                   {"status", "partial"},
                   {"reason", "the host's own system stands in for the image " + name}});
}

}  // namespace bh
