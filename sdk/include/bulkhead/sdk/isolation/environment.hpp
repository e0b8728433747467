// bulkhead/sdk/isolation/environment.hpp - what a command finds in its environment: nothing of the
// host's but what the profile allows by name, then what the profile and the command set.
#ifndef BULKHEAD_SDK_ISOLATION_ENVIRONMENT_HPP
#define BULKHEAD_SDK_ISOLATION_ENVIRONMENT_HPP

#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace bulkhead::sdk::isolation {

using Variables = std::map<std::string, std::string>;

// A copy of this process's environment. An embedder may change its own later, beside us, so it is
// taken once, when a provider is opened.
inline Variables host_environment() {
  Variables all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text(*at);
    const size_t sign = text.find('=');
    if (sign == 0 || sign == std::string_view::npos) continue;
    all.emplace(text.substr(0, sign), text.substr(sign + 1));
  }
  return all;
}

// `pattern`: a name, or a start followed by *.
inline bool allows(std::string_view pattern, std::string_view name) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  }
  return pattern == name;
}

inline Variables allowed(const Variables& host, const std::vector<std::string>& patterns) {
  Variables out;
  for (const auto& [name, value] : host) {
    for (const auto& pattern : patterns) {
      if (allows(pattern, name)) out[name] = value;
    }
  }
  return out;
}

// What a program expects to find; nothing here asks a person anything.
inline Variables base_environment(const std::string& home, const std::string& user) {
  return {{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
          {"HOME", home},
          {"USER", user},
          {"LOGNAME", user},
          {"SHELL", "/bin/sh"},
          {"TMPDIR", "/tmp"},
          {"LANG", "C.UTF-8"},
          {"GIT_TERMINAL_PROMPT", "0"},
          {"DEBIAN_FRONTEND", "noninteractive"}};
}

// Later ones win.
inline std::vector<std::string> environment_list(std::initializer_list<const Variables*> layers) {
  Variables all;
  for (const Variables* layer : layers) {
    for (const auto& [name, value] : *layer) all[name] = value;
  }
  std::vector<std::string> list;
  list.reserve(all.size());
  for (const auto& [name, value] : all) list.push_back(name + "=" + value);
  return list;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_ENVIRONMENT_HPP
