// sandbox_create.
#include <algorithm>
#include <chrono>
#include <utility>

#include "create.h"
#include "info.h"
#include "profile.h"

namespace toolset_sandbox {

namespace {

void progress(sdk::Call& call, const char* value, const char* message) {
  call.event(sdk::JsonObject()
                 .raw("progress", value)
                 .raw("total", "1.0")
                 .text("message", message)
                 .str());
}

// Nothing is pulled from a registry, so there is nobody to show credentials to.
sdk::Status check_credentials(const Request& request) {
  const bool name = !request.text("auth_username").empty();
  const bool password = !request.text("auth_password").empty();
  if (name != password) {
    return sdk::failure(BH_INVALID_ARGUMENT,
                        "auth_username and auth_password must be provided together", "schema");
  }
  if (!name) return {};
  return sdk::failure(BH_UNIMPLEMENTED,
                      "images are not pulled from a registry here, so credentials have no use",
                      "auth_unsupported", "/auth_username",
                      "leave auth_username and auth_password out");
}

sdk::Status check_extensions(const Request& request) {
  const json::object* extensions = json::child(request.args, "extensions");
  if (extensions == nullptr || extensions->empty()) return {};
  const auto key = extensions->begin()->key();
  const std::string name(key.data(), key.size());
  return sdk::failure(BH_UNIMPLEMENTED, "the extension \"" + name + "\" is not known here",
                      "extension_unsupported", "/extensions/" + name, "leave it out");
}

sdk::Result<json::object> metadata_of(const Request& request) {
  json::object out;
  if (const json::object* given = json::child(request.args, "metadata")) out = *given;
  for (const auto& member : out) {
    const std::string_view key(member.key().data(), member.key().size());
    if (key.substr(0, std::string_view(kOwnMetadata).size()) != kOwnMetadata) continue;
    return wrong("metadata under \"" + std::string(kOwnMetadata) + "\" is the host's own",
                 "/metadata/" + std::string(key), "choose another prefix");
  }
  if (const std::string language = request.text("language"); !language.empty()) {
    out.emplace("language", language);
  }
  if (const json::array* entrypoint = json::list(request.args, "entrypoint");
      entrypoint != nullptr && !entrypoint->empty()) {
    out[kEntrypointKey] = json::print(*entrypoint);
  }
  return out;
}

sdk::Result<json::object> wish_of(const Request& request) {
  if (auto st = check_credentials(request); !st) return std::move(st).failure();
  if (auto st = check_extensions(request); !st) return std::move(st).failure();
  json::object out;
  std::string image = request.text("image");
  // Every language that the tools run is part of the host's view.
  if (image.empty() && request.has("language")) image = "host";
  if (image.empty()) {
    return wrong("image is missing: the name of what the sandbox shows", "/image",
                 "\"host\" is the view of this machine");
  }
  out["image"] = image;
  auto timeout = milliseconds(request.args, "timeout_seconds", 600);
  if (!timeout) return std::move(timeout).failure();
  out["timeout_ms"] = *timeout;
  if (const json::object* env = json::child(request.args, "env")) out["env"] = *env;
  auto metadata = metadata_of(request);
  if (!metadata) return std::move(metadata).failure();
  if (!metadata->empty()) out["metadata"] = *std::move(metadata);
  auto profile = profile_of(request);
  if (!profile) return std::move(profile).failure();
  if (!profile->empty()) out["profile"] = *std::move(profile);
  return out;
}

sdk::Status start_entrypoint(Request& request, const std::string& id) {
  const json::array* entrypoint = json::list(request.args, "entrypoint");
  if (entrypoint == nullptr || entrypoint->empty()) return {};
  return operate(request.call, "job.start", {{"sandbox", id}, {"argv", *entrypoint}}).status();
}

// A sandbox that its maker will not hear of is ended, also where the call was stopped.
sdk::Failure undo(Request& request, const std::string& id, sdk::Failure why) {
  auto ended = sdk::Operation("sandbox.kill")
                   .args(sdk::JsonObject().text("sandbox", id).str())
                   .cleanup()
                   .run(request.call);
  if (!ended) request.call.log(BH_LOG_WARN, "a sandbox that was of no use could not be ended");
  return why;
}

}  // namespace

sdk::Status until_ready(Request& request, const std::string& id, std::string_view timeout_key) {
  if (json::boolean(request.args, "skip_health_check")) return {};
  auto patience = milliseconds(request.args, timeout_key, 30);
  if (!patience) return std::move(patience).failure();
  const int64_t interval = json::integer(request.args, "health_check_polling_interval_ms", 200);
  if (interval < 1 || interval > 3600000) {
    return wrong("health_check_polling_interval_ms is 1 to 3600000",
                 "/health_check_polling_interval_ms");
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(*patience);
  for (;;) {
    auto health = operate(request.call, "sandbox.health", {{"sandbox", id}});
    if (!health) return std::move(health).failure();
    if (json::boolean(*health, "healthy")) return {};
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) {
      return sdk::failure(BH_UNAVAILABLE,
                          "the sandbox " + id + " is not ready: " +
                              std::string(json::text(*health, "reason", "it does not say why")),
                          "not_ready", "/" + std::string(timeout_key));
    }
    const std::chrono::nanoseconds step = std::chrono::milliseconds(interval);
    if (auto st = request.call.wait(std::min<std::chrono::nanoseconds>(left, step)); !st) return st;
  }
}

sdk::Result<sdk::ToolResult> sandbox_create(Request& request) {
  progress(request.call, "0.1", "Checking the arguments");
  auto wish = wish_of(request);
  if (!wish) return std::move(wish).failure();
  auto persona = persona_of(request.call);
  if (!persona) return std::move(persona).failure();

  progress(request.call, "0.3", "Creating the sandbox");
  auto made = operate(request.call, "sandbox.create", *wish);
  if (!made) return std::move(made).failure();
  const std::string id(json::text(*made, "sandbox"));
  if (auto st = start_entrypoint(request, id); !st) {
    return undo(request, id, std::move(st).failure());
  }
  if (auto st = until_ready(request, id, "ready_timeout_seconds"); !st) {
    return undo(request, id, std::move(st).failure());
  }
  progress(request.call, "0.8", "Asking what it is");
  auto info = fetch_info(request.call, id);
  if (!info) return undo(request, id, std::move(info).failure());
  request.shared.registry.add(*persona, id);
  progress(request.call, "1.0", "Done");

  auto result = answer(with_id(id, *std::move(info)));
  if (!result) return result;
  if (const json::object* report = json::child(*made, "enforcement")) {
    request.shared.reports.first(id);
    json::object told = *report;
    told.emplace("backend", std::string(json::text(*made, "backend")));
    result->meta(json::print(json::object{{"bulkhead/enforcement", std::move(told)}}));
  }
  return result;
}

}  // namespace toolset_sandbox
