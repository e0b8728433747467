#include "sandbox/report.h"

#include <algorithm>
#include <set>

namespace bh {
namespace {

void add_listed(std::vector<std::string>& out, const json::object& profile, std::string_view key,
                std::string_view named_by) {
  const json::array* list = json::get_array(profile, key);
  if (list == nullptr) return;
  for (const json::value& v : *list) {
    if (const json::object* o = v.if_object()) {
      out.push_back(std::string(key) + ":" + std::string(json::get_string(*o, named_by)));
    }
  }
}

void add_members(std::vector<std::string>& out, const json::object& profile,
                 std::string_view key) {
  const json::object* group = json::get_object(profile, key);
  if (group == nullptr) return;
  for (const auto& member : *group) {
    out.push_back(std::string(key) + "." + std::string(member.key().data(), member.key().size()));
  }
}

// The line of the rule itself, or of the group that it belongs to.
bool answers_for(std::string_view line, std::string_view rule) {
  if (line == rule) return true;
  return rule.find(':') == std::string_view::npos && line == rule.substr(0, rule.find('.'));
}

}  // namespace

std::vector<std::string> rules_of(const json::object& profile) {
  std::vector<std::string> out;
  add_members(out, profile, "root");
  for (std::string_view whole : {"workspace", "home", "tmp"}) {
    if (profile.contains(whole)) out.emplace_back(whole);
  }
  add_listed(out, profile, "files", "path");
  add_listed(out, profile, "mounts", "path");
  for (std::string_view group : {"network", "limits", "env", "user"}) {
    add_members(out, profile, group);
  }
  if (profile.contains("hide")) out.emplace_back("isolation.hides");
  return out;
}

json::object complete_report(json::object report, const json::object& profile,
                             const std::vector<std::string>& taken_out) {
  json::array& rules = report["rules"].is_array() ? report["rules"].get_array()
                                                  : report["rules"].emplace_array();
  std::set<std::string, std::less<>> told;
  for (const json::value& line : rules) {
    if (const json::object* o = line.if_object()) told.emplace(json::get_string(*o, "rule"));
  }
  auto add = [&](const std::string& rule, const char* reason) {
    if (!told.emplace(rule).second) return;
    rules.push_back({{"rule", rule}, {"status", "unsupported"}, {"reason", reason}});
  };
  for (const std::string& rule : taken_out) add(rule, "this backend does not know the rule");
  for (const std::string& rule : rules_of(profile)) {
    // A backend may answer for a whole group: "network" for network.mode. A path's dots are its own.
    const std::size_t dot = rule.find(':') == std::string::npos ? rule.find('.') : std::string::npos;
    if (told.count(rule.substr(0, dot)) == 0) {
      add(rule, "the backend does not say that it does this");
    }
  }
  return report;
}

Result<void> check_required(const json::object& report, const std::vector<std::string>& required,
                            const std::string& backend) {
  const json::array* rules = json::get_array(report, "rules");
  json::array unmet;
  std::string sentence;
  for (const std::string& name : required) {
    std::string status = "unsupported";
    std::string reason = "the backend does not mention it";
    if (rules != nullptr) {
      for (const json::value& line : *rules) {
        const json::object* o = line.if_object();
        if (o == nullptr || !answers_for(json::get_string(*o, "rule"), name)) continue;
        status = json::get_string(*o, "status");
        reason = json::get_string(*o, "reason");
        // Of two lines the weaker one holds.
        if (status != "enforced") break;
      }
    }
    if (status == "enforced") continue;
    unmet.push_back({{"rule", name}, {"status", status}, {"reason", reason}});
    sentence += (sentence.empty() ? "" : "; ") + name + " is " + status;
    if (!reason.empty()) sentence += " (" + reason + ")";
  }
  if (unmet.empty()) return {};
  json::object details;
  details["reason"] = "not_enforced";
  details["rules"] = std::move(unmet);
  details["backend"] = backend;
  details["remedy"] = "choose a backend that enforces it, or take the rule out of \"required\"";
  return tl::unexpected(Error{BH_FAILED_PRECONDITION,
                              "the backend " + backend + " cannot give what is required: " + sentence,
                              json::print(details)});
}

}  // namespace bh
