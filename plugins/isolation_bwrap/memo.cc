#include "memo.h"

namespace bwrap {

namespace json = sdk::json;

bool recall(const sdk::isolation::Memo& memo, Features& features) {
  json::object found;
  if (!memo.recall(found)) return false;
  features.version = json::text(found, "version");
  features.options.clear();
  const auto* options = json::list(found, "options");
  for (const auto& v : options != nullptr ? *options : json::array()) {
    if (v.is_string()) features.options.emplace(json::view(v.get_string()));
  }
  return true;
}

void keep(const sdk::isolation::Memo& memo, const Features& features) {
  json::array options;
  for (const auto& option : features.options) options.emplace_back(option);
  memo.keep({{"version", features.version}, {"options", options}});
}

}  // namespace bwrap
