// bulkhead/sdk/isolation/profile.hpp - the isolation profile and the options of one command as C++
// values. The host has checked both against the schemas; paths are cleaned here, not resolved.
#ifndef BULKHEAD_SDK_ISOLATION_PROFILE_HPP
#define BULKHEAD_SDK_ISOLATION_PROFILE_HPP

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../json.hpp"
#include "paths.hpp"

namespace bulkhead::sdk::isolation {

enum class Access { kReadWrite, kReadOnly, kHide };
enum class Network { kOff, kLimited, kAllowedHosts, kUnrestricted };

struct Limits {
  std::optional<double> cpu;
  std::optional<uint64_t> memory_bytes, pids, disk_bytes, wall_ms, output_bytes, open_files;
};

struct Profile {
  struct Place {
    std::string source;  // on the host
    std::string path;    // inside; empty: the backend's choice
    Access access = Access::kReadWrite;
  };
  struct Rule {
    std::string path;  // inside
    Access access = Access::kReadOnly;
  };
  std::string root = "host";  // "host", "image", "snapshot"
  std::string image;          // a name, or where an image's root lies on this host
  std::optional<Place> workspace, home, tmp;
  std::vector<Rule> files;
  std::vector<Place> mounts;
  Network network = Network::kOff;
  std::string network_word = "off";
  bool network_rules = false;
  Limits limits;
  std::vector<std::string> env_allow;
  std::map<std::string, std::string> env_set;
  std::optional<uint32_t> uid, gid;
  std::string user;
  std::string persona = "default";
  std::vector<std::string> hide;
  std::vector<std::string> required;
  bool shared_processes = false;  // of all commands; else each has its own
  bool packages = false;          // the capabilities that package managers need, inside
};

struct CommandOptions {
  std::string cwd;
  std::map<std::string, std::string> env;
  Limits limits;
  // Of a terminal; 0: none is wanted.
  uint32_t rows = 0, columns = 0;
  std::string term;
};

namespace detail {

inline std::optional<uint64_t> whole(const json::object& o, std::string_view key) {
  if (o.if_contains({key.data(), key.size()}) == nullptr) return std::nullopt;
  const int64_t n = json::integer(o, key, -1);
  return n < 0 ? std::nullopt : std::optional<uint64_t>(static_cast<uint64_t>(n));
}

inline Limits limits_of(const json::object* o) {
  Limits l;
  if (o == nullptr) return l;
  if (const double cpu = json::number(*o, "cpu", 0); cpu > 0 && std::isfinite(cpu)) l.cpu = cpu;
  l.memory_bytes = whole(*o, "memory_bytes");
  l.pids = whole(*o, "pids");
  l.disk_bytes = whole(*o, "disk_bytes");
  l.wall_ms = whole(*o, "wall_ms");
  l.output_bytes = whole(*o, "output_bytes");
  l.open_files = whole(*o, "open_files");
  return l;
}

inline Access access_of(const json::object& o, Access otherwise) {
  const std::string_view word = json::text(o, "access");
  if (word == "rw") return Access::kReadWrite;
  if (word == "ro") return Access::kReadOnly;
  if (word == "hide") return Access::kHide;
  return otherwise;
}

inline std::vector<std::string> texts_of(const json::array* list) {
  std::vector<std::string> out;
  for (const auto& v : list != nullptr ? *list : json::array()) {
    if (v.is_string()) out.emplace_back(json::view(v.get_string()));
  }
  return out;
}

inline Result<std::optional<Profile::Place>> place_of(const json::object* o,
                                                      std::string_view field) {
  if (o == nullptr) return std::optional<Profile::Place>();
  Profile::Place place;
  auto source = clean_path(json::text(*o, "source"), std::string(field) + ".source");
  if (!source) return std::move(source).failure();
  place.source = *source;
  if (o->if_contains("path") != nullptr) {
    auto path = clean_path(json::text(*o, "path"), std::string(field) + ".path");
    if (!path) return std::move(path).failure();
    place.path = *path;
  }
  place.access = access_of(*o, Access::kReadWrite);
  return std::optional<Profile::Place>(std::move(place));
}

}  // namespace detail

// A name and a value that can stand in an environment.
inline bool is_variable(std::string_view name, std::string_view value) {
  return !name.empty() && name.find('=') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && value.find('\0') == std::string_view::npos;
}

inline Result<std::map<std::string, std::string>> variables_of(const json::object* o,
                                                               std::string_view field) {
  std::map<std::string, std::string> out;
  for (const auto& [key, v] : o != nullptr ? *o : json::object()) {
    const std::string_view name(key.data(), key.size());
    const std::string_view value = v.is_string() ? json::view(v.get_string()) : std::string_view();
    if (!v.is_string() || !is_variable(name, value)) {
      return failure(BH_INVALID_ARGUMENT,
                     std::string(field) + ": \"" + to_utf8(name) + "\" cannot be set", "variable",
                     field, "names are not empty and hold no =; neither side holds a zero byte");
    }
    out.emplace(name, value);
  }
  return out;
}

inline Result<Profile> parse_profile(std::string_view text) {
  auto parsed = json::parse_object(text);
  if (!parsed) return std::move(parsed).failure();
  const json::object& o = *parsed;
  Profile p;
  if (const auto* root = json::child(o, "root")) {
    for (const char* key : {"image", "snapshot"}) {
      if (root->if_contains(key) != nullptr) p.root = key;
    }
    if (p.root == "image") p.image = json::text(*root, "image");
  }
  for (const auto& [key, to] : {std::pair("workspace", &p.workspace), std::pair("home", &p.home),
                                std::pair("tmp", &p.tmp)}) {
    auto place = detail::place_of(json::child(o, key), key);
    if (!place) return std::move(place).failure();
    *to = std::move(*place);
  }
  const auto* files = json::list(o, "files");
  for (const auto& v : files != nullptr ? *files : json::array()) {
    if (!v.is_object()) continue;
    auto path = clean_path(json::text(v.get_object(), "path"), "files.path");
    if (!path) return std::move(path).failure();
    p.files.push_back({*path, detail::access_of(v.get_object(), Access::kReadOnly)});
  }
  const auto* mounts = json::list(o, "mounts");
  for (const auto& v : mounts != nullptr ? *mounts : json::array()) {
    if (!v.is_object()) continue;
    json::object with = v.get_object();
    if (with.if_contains("access") == nullptr) with["access"] = "ro";
    auto place = detail::place_of(&with, "mounts");
    if (!place) return std::move(place).failure();
    p.mounts.push_back(std::move(**place));
  }
  if (const auto* network = json::child(o, "network")) {
    p.network_word = json::text(*network, "mode", "off");
    if (p.network_word == "limited") p.network = Network::kLimited;
    if (p.network_word == "allowed_hosts") p.network = Network::kAllowedHosts;
    if (p.network_word == "unrestricted") p.network = Network::kUnrestricted;
    p.network_rules = network->if_contains("allow") != nullptr;
  }
  p.limits = detail::limits_of(json::child(o, "limits"));
  if (const auto* env = json::child(o, "env")) {
    p.env_allow = detail::texts_of(json::list(*env, "allow"));
    auto set = variables_of(json::child(*env, "set"), "env.set");
    if (!set) return std::move(set).failure();
    p.env_set = std::move(*set);
  }
  if (const auto* user = json::child(o, "user")) {
    if (auto n = detail::whole(*user, "uid")) p.uid = static_cast<uint32_t>(*n);
    if (auto n = detail::whole(*user, "gid")) p.gid = static_cast<uint32_t>(*n);
    p.user = json::text(*user, "name");
  }
  p.shared_processes = json::text(o, "processes") == "sandbox";
  p.packages = json::text(o, "capabilities") == "packages";
  p.persona = json::text(o, "persona", "default");
  for (const auto& hide : detail::texts_of(json::list(o, "hide"))) {
    auto path = clean_path(hide, "hide");
    if (!path) return std::move(path).failure();
    p.hide.push_back(*path);
  }
  p.required = detail::texts_of(json::list(o, "required"));
  for (size_t i = 0; i < p.files.size(); ++i) {
    for (size_t j = i + 1; j < p.files.size(); ++j) {
      if (p.files[i].path == p.files[j].path && p.files[i].access != p.files[j].access) {
        return failure(BH_INVALID_ARGUMENT,
                       "two rules about " + to_utf8(p.files[i].path) + " contradict each other",
                       "contradiction", "files", "keep one of them");
      }
    }
  }
  return p;
}

inline Result<CommandOptions> parse_options(std::string_view text) {
  auto parsed = json::parse_object(text);
  if (!parsed) return std::move(parsed).failure();
  CommandOptions options;
  if (parsed->if_contains("cwd") != nullptr) {
    auto cwd = clean_path(json::text(*parsed, "cwd"), "cwd");
    if (!cwd) return std::move(cwd).failure();
    options.cwd = *cwd;
  }
  auto env = variables_of(json::child(*parsed, "env"), "env");
  if (!env) return std::move(env).failure();
  options.env = std::move(*env);
  options.limits = detail::limits_of(json::child(*parsed, "limits"));
  if (const auto* tty = json::child(*parsed, "tty")) {
    options.rows = static_cast<uint32_t>(std::min<uint64_t>(detail::whole(*tty, "rows").value_or(24), 65535));
    options.columns = static_cast<uint32_t>(std::min<uint64_t>(detail::whole(*tty, "cols").value_or(80), 65535));
    options.term = json::text(*tty, "term", "xterm-256color");
    if (options.env.count("TERM") == 0) options.env["TERM"] = options.term;
  }
  return options;
}

// A limit that holds for one command: the smaller one.
template <class T>
std::optional<T> tighter(const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a ? a : b;
  return *a < *b ? a : b;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_PROFILE_HPP
