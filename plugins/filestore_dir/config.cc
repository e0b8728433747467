#include "config.h"

#include <bulkhead/sdk/json.hpp>

namespace filestore_dir {

using sdk::failure;
namespace json = sdk::json;

namespace {

// A limit that is absent keeps what it has.
sdk::Status read_limit(const json::object& o, const char* key, int64_t& out) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return {};
  boost::json::error_code ec;
  const auto n = v->is_number() ? v->to_number<int64_t>(ec) : 0;
  if (ec || n < 1) {
    return failure(BH_INVALID_ARGUMENT,
                   std::string(key) + " of the file store is no whole number above 0", "config",
                   key, "give a number of 1 or more, or leave it out for the default");
  }
  out = n;
  return {};
}

}  // namespace

sdk::Result<Config> read_config(const sdk::Opening& how) {
  auto parsed = json::parse_object(how.config());
  if (!parsed) return std::move(parsed).failure();
  for (const auto& member : *parsed) {
    const std::string key(member.key());
    if (key == "root" || key == "max_bytes" || key == "max_file_bytes" || key == "max_files") {
      continue;
    }
    return failure(BH_INVALID_ARGUMENT, "the file store has no setting " + key, "config", key,
                   "its settings are root, max_bytes, max_file_bytes and max_files");
  }
  Config out;
  for (auto [key, where] : {std::pair("max_bytes", &out.max_bytes),
                            std::pair("max_file_bytes", &out.max_file_bytes),
                            std::pair("max_files", &out.max_files)}) {
    if (auto st = read_limit(*parsed, key, *where); !st) return std::move(st).failure();
  }
  const json::value* root = parsed->if_contains("root");
  if (root == nullptr) {
    if (how.state_dir().empty()) {
      return failure(BH_INVALID_ARGUMENT,
                     "the file store has no folder: neither a root nor a state folder was given",
                     "config", "root", "set root to an absolute folder");
    }
    out.root = std::string(how.state_dir()) + "/store";
    return out;
  }
  out.root = std::string(json::text(*parsed, "root"));
  if (out.root.empty() || out.root[0] != '/' || out.root.find('\0') != std::string::npos) {
    return failure(BH_INVALID_ARGUMENT, "root of the file store is not an absolute path", "config",
                   "root", "give it from / on");
  }
  return out;
}

}  // namespace filestore_dir
