#include "info.h"

#include <utility>

namespace toolset_sandbox {

const char kOwnMetadata[] = "bulkhead/";
const char kEntrypointKey[] = "bulkhead/entrypoint";

namespace {

// "running" is "Running" there; states that it does not know go the same way.
std::string state_of(std::string_view ours) {
  std::string out(ours);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

json::value text_or_null(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains({key.data(), key.size()});
  return v != nullptr && v->is_string() ? *v : json::value(nullptr);
}

json::array entrypoint_of(const json::object& metadata) {
  auto parsed = json::parse(json::text(metadata, kEntrypointKey, "[]"));
  if (!parsed || !parsed->is_array()) return {};
  return std::move(parsed->get_array());
}

json::object callers_metadata(const json::object& metadata) {
  json::object out;
  for (const auto& member : metadata) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key.substr(0, std::string_view(kOwnMetadata).size()) == kOwnMetadata) continue;
    out[member.key()] = member.value();
  }
  return out;
}

}  // namespace

json::object info_of(const json::object& sandbox) {
  const json::object none;
  const json::object* found = json::child(sandbox, "metadata");
  const json::object& metadata = found != nullptr ? *found : none;
  json::object out;
  out["id"] = std::string(json::text(sandbox, "sandbox"));
  out["status"] = json::object{{"state", state_of(json::text(sandbox, "state", "unknown"))},
                               {"reason", text_or_null(sandbox, "reason")},
                               {"message", text_or_null(sandbox, "message")},
                               {"last_transition_at", date_time_or_null(sandbox, "changed_ms")}};
  out["entrypoint"] = entrypoint_of(metadata);
  out["expires_at"] = date_time_or_null(sandbox, "expires_ms");
  out["created_at"] = date_time(json::integer(sandbox, "created_ms"));
  const json::value image = text_or_null(sandbox, "image");
  out["image"] = image.is_null()
                     ? json::value(nullptr)
                     : json::value(json::object{{"image", image}, {"auth", nullptr}});
  out["snapshot_id"] = nullptr;
  out["platform"] = nullptr;
  out["allocation"] = nullptr;
  out["metadata"] = callers_metadata(metadata);
  out["extensions"] = nullptr;
  return out;
}

sdk::Result<json::object> fetch_info(sdk::Call& call, const std::string& sandbox) {
  auto got = operate(call, "sandbox.get", {{"sandbox", sandbox}});
  if (!got) return std::move(got).failure();
  return info_of(*got);
}

json::object with_id(const std::string& sandbox, json::object info) {
  return {{"sandbox_id", sandbox}, {"info", std::move(info)}};
}

}  // namespace toolset_sandbox
