#include "sandbox/shape_key.h"

#include <algorithm>
#include <vector>

#include "loader/digest.h"

namespace bh {
namespace {

// Two callers may state the same profile in another order of keys.
json::value sorted(const json::value& v) {
  if (const json::array* list = v.if_array()) {
    json::array out;
    for (const json::value& entry : *list) out.push_back(sorted(entry));
    return out;
  }
  const json::object* o = v.if_object();
  if (o == nullptr) return v;
  std::vector<std::string_view> keys;
  for (const auto& member : *o) keys.emplace_back(member.key().data(), member.key().size());
  std::sort(keys.begin(), keys.end());
  json::object out;
  for (std::string_view key : keys) out.emplace(key, sorted(o->at(key)));
  return out;
}

}  // namespace

std::string shape_key(const std::string& persona, const std::string& backend,
                      const json::object& profile) {
  return sha256_of(persona + '\n' + backend + '\n' + json::print(sorted(profile))).substr(0, 32);
}

}  // namespace bh
