// The load report: what plugin.list shows.
#include "base/json.h"
#include "loader/registry.h"
#include "loader/registry_plugin.h"

namespace bh {
namespace {

std::string join(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace

boost::json::object Registry::report() const {
  std::lock_guard<std::mutex> lock(mutex_);
  boost::json::array plugins;
  for (const auto& plugin : plugins_) plugins.push_back(describe(*plugin));
  boost::json::array searched;
  for (const SearchedPlace& place : places_) {
    searched.push_back({{"source", place.source},
                        {"path", place.path},
                        {"status", place.status},
                        {"message", place.message}});
  }
  return {{"plugins", std::move(plugins)}, {"searched", std::move(searched)}};
}

boost::json::object Registry::describe(const Plugin& plugin) {
  boost::json::object line = {{"id", ""},           {"name", ""},    {"version", ""},
                              {"vendor", ""},       {"license", ""}, {"source", plugin.source},
                              {"path", plugin.path}};
  boost::json::array provides;
  const bh_plugin& table = plugin.entered.table;
  if (plugin.finding.status == PluginStatus::loaded) {
    line["id"] = table.id;
    line["name"] = table.name;
    line["version"] = table.version;
    line["vendor"] = table.vendor;
    line["license"] = table.license;
    for (const auto& each : plugin.entered.providers) {
      provides.push_back({{"interface", each->interface},
                          {"id", each->id},
                          {"title", each->title},
                          {"capabilities", each->capabilities}});
    }
  } else if (plugin.manifest) {
    line["id"] = plugin.manifest->id;
    line["name"] = plugin.manifest->name;
    line["version"] = plugin.manifest->version;
    line["vendor"] = plugin.manifest->vendor;
    line["license"] = plugin.manifest->license;
    for (const auto& each : plugin.manifest->provides) {
      provides.push_back({{"interface", each.interface},
                          {"id", each.id},
                          {"title", each.title},
                          {"capabilities", each.capabilities}});
    }
  }
  std::vector<std::string> texts;
  if (!plugin.finding.message.empty()) texts.push_back(plugin.finding.message);
  texts.insert(texts.end(), plugin.remarks.begin(), plugin.remarks.end());
  line["status"] = name_of(plugin.finding.status);
  line["stage"] = name_of(plugin.finding.stage);
  line["message"] = join(texts);
  line["hint"] = plugin.finding.hint;
  line["provides"] = std::move(provides);
  return line;
}

}  // namespace bh
