// The config's "plugins" object: {"path":[],"environment","user","relative","system","disabled":[],
// "sha256":{}}.
#include <string>
#include <vector>

#include "base/json.h"
#include "loader/names.h"
#include "loader/registry.h"

namespace bh {
namespace {

Failure wrong(std::string_view key, const std::string& what, std::string_view remedy,
              std::string_view reason = "schema") {
  const std::string field = "/plugins/" + std::string(key);
  return fail(BH_INVALID_ARGUMENT, field + " " + what, reason,
              {{"field", field}, {"remedy", remedy}});
}

Result<void> read_texts(std::string_view key, const boost::json::value& value,
                        bool (*fits)(std::string_view), const char* form,
                        std::vector<std::string>& to) {
  if (!value.is_array()) return wrong(key, "must be a list", "write [\"...\"]");
  for (const auto& each : value.get_array()) {
    if (!each.is_string() || !fits(std::string_view(each.get_string()))) {
      return wrong(key, std::string("must hold ") + form + " only", "correct or remove the entry");
    }
    to.emplace_back(each.get_string());
  }
  return {};
}

bool is_absolute(std::string_view text) {
  return !text.empty() && text[0] == '/' && text.find('\0') == std::string_view::npos;
}

Result<void> read_hashes(const boost::json::value& value, std::map<std::string, std::string>& to) {
  if (!value.is_object()) {
    return wrong("sha256", "must be an object", "write {\"plugin.id\":\"64 hex digits\"}");
  }
  for (const auto& member : value.get_object()) {
    const bool fits = is_plugin_id(member.key()) && member.value().is_string() &&
                      member.value().get_string().size() == 64;
    if (!fits) {
      return wrong("sha256/" + std::string(member.key()),
                   "must be a plugin's id with 64 lower-case hexadecimal digits",
                   "take the digits from sha256sum");
    }
    to[std::string(member.key())] = std::string(member.value().get_string());
  }
  return {};
}

}  // namespace

Result<RegistryOptions> read_registry_options(const boost::json::object& plugins) {
  RegistryOptions options;
  SearchOptions& search = options.search;
  const std::map<std::string_view, bool*> switches = {{"environment", &search.environment},
                                                      {"user", &search.user},
                                                      {"relative", &search.relative},
                                                      {"system", &search.system}};
  for (const auto& member : plugins) {
    const std::string_view key = member.key();
    const auto found = switches.find(key);
    if (found != switches.end()) {
      if (!member.value().is_bool()) return wrong(key, "must be true or false", "write true");
      *found->second = member.value().get_bool();
    } else if (key == "path") {
      BH_TRY(read_texts(key, member.value(), is_absolute, "absolute paths", search.path));
    } else if (key == "disabled") {
      BH_TRY(read_texts(key, member.value(), is_plugin_id, "plugin ids", options.disabled));
    } else if (key == "sha256") {
      BH_TRY(read_hashes(member.value(), options.sha256));
    } else {
      return wrong(key, "is not a key that this host knows", "remove it", "unknown_key");
    }
  }
  return options;
}

}  // namespace bh
