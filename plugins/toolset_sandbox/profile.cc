#include "profile.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace toolset_sandbox {

namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};

// Kubernetes' quantities.
constexpr Unit kUnits[] = {
    {"Ki", 1024.0},          {"Mi", 1048576.0},       {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0}, {"k", 1e3},              {"K", 1e3},
    {"M", 1e6},              {"G", 1e9},              {"T", 1e12},
    {"m", 1e-3},             {"", 1.0},
};

// The number in front of a unit: digits and a point, more than 0.
sdk::Result<double> quantity(std::string_view text, const char* field, const char* remedy) {
  const size_t end = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, end);
  const std::string_view suffix = end == std::string_view::npos ? "" : text.substr(end);
  double number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  for (const Unit& unit : kUnits) {
    if (whole && number > 0 && suffix == unit.suffix) return number * unit.factor;
  }
  return wrong(std::string(field).substr(1) + " is \"" + std::string(text) +
                   "\", which is no amount",
               field, remedy);
}

sdk::Status add_limits(const json::object& resource, json::object& limits, json::array& required) {
  for (const auto& member : resource) {
    const std::string_view key(member.key().data(), member.key().size());
    const std::string_view value = json::view(member.value().get_string());
    if (key == "cpu") {
      auto cores = cores_of(value);
      if (!cores) return std::move(cores).failure();
      limits["cpu"] = *cores;
      required.emplace_back("limits.cpu");
    } else if (key == "memory") {
      auto bytes = bytes_of(value);
      if (!bytes) return std::move(bytes).failure();
      limits["memory_bytes"] = *bytes;
      required.emplace_back("limits.memory_bytes");
    } else {
      return wrong("there is no limit for the resource \"" + std::string(key) + "\"",
                   "/resource/" + std::string(key), "cpu and memory can be limited");
    }
  }
  return {};
}

sdk::Failure no_such_policy(const std::string& why, const char* remedy) {
  return sdk::failure(BH_UNIMPLEMENTED, why, "network_policy_unsupported",
                      "/network_policy/egress", remedy);
}

// What a policy with rules means for a sandbox that knows names which are allowed, and no others.
sdk::Result<json::object> network_of(const json::object& policy) {
  const std::string_view action =
      json::text(policy, "defaultAction", json::text(policy, "default_action", "deny"));
  json::array allowed;
  size_t denied = 0;
  if (const json::array* rules = json::list(policy, "egress")) {
    for (const json::value& one : *rules) {
      const json::object& rule = one.get_object();
      if (json::text(rule, "action") == "allow") {
        allowed.push_back(rule.at("target"));
      } else {
        ++denied;
      }
    }
  }
  if (action == "allow") {
    if (denied == 0) return json::object{{"mode", "unrestricted"}};
    return no_such_policy("a network that is open but for some targets cannot be enforced",
                          "deny by default and list what is allowed");
  }
  if (allowed.empty()) return json::object{{"mode", "off"}};
  if (denied > 0) {
    return no_such_policy("targets that are denied beside others that are allowed cannot be "
                          "enforced one by one",
                          "list only what is allowed; everything else is denied");
  }
  return json::object{{"mode", "allowed_hosts"}, {"allow", std::move(allowed)}};
}

}  // namespace

sdk::Result<double> cores_of(std::string_view text) {
  constexpr const char* kRemedy = "write cores, as \"2\" or \"0.5\", or thousandths, as \"500m\"";
  auto cores = quantity(text, "/resource/cpu", kRemedy);
  if (!cores) return cores;
  if (*cores > 4096) {
    return wrong("/resource/cpu asks for " + std::string(text) + " cores", "/resource/cpu",
                 kRemedy);
  }
  return cores;
}

sdk::Result<int64_t> bytes_of(std::string_view text) {
  constexpr const char* kRemedy = "write bytes, as \"512Mi\", \"1Gi\" or \"2G\"; at least 1Mi";
  auto bytes = quantity(text, "/resource/memory", kRemedy);
  if (!bytes) return std::move(bytes).failure();
  if (*bytes < 1048576.0 || *bytes > 1e15) {
    return wrong("/resource/memory is " + std::string(text) + ", which no sandbox can have",
                 "/resource/memory", kRemedy);
  }
  return static_cast<int64_t>(std::llround(*bytes));
}

sdk::Result<json::object> profile_of(const Request& request) {
  json::object profile;
  json::object limits;
  // A list of one's own takes the place of the usual one, which is the network's mode.
  json::array required{"network.mode"};
  if (const json::object* resource = json::child(request.args, "resource")) {
    if (auto st = add_limits(*resource, limits, required); !st) return std::move(st).failure();
  }
  const json::object* policy = json::child(request.args, "network_policy");
  if (policy != nullptr) {
    auto network = network_of(*policy);
    if (!network) return std::move(network).failure();
    profile["network"] = *std::move(network);
  }
  if (limits.empty() && policy == nullptr) return profile;
  if (!limits.empty()) profile["limits"] = std::move(limits);
  profile["required"] = std::move(required);
  return profile;
}

}  // namespace toolset_sandbox
