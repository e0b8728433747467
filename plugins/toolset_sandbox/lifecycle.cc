#include "lifecycle.h"

#include <utility>

#include "create.h"
#include "info.h"

namespace toolset_sandbox {

sdk::Result<std::string> known_sandbox(Request& request) {
  std::string id = request.text("sandbox_id");
  auto st = known(request.call, request.shared.registry, id,
                  json::boolean(request.args, "connect_if_missing"));
  if (!st) return std::move(st).failure();
  return id;
}

sdk::Result<sdk::ToolResult> sandbox_connect(Request& request) {
  const std::string id = request.text("sandbox_id");
  auto st = known(request.call, request.shared.registry, id, true);
  if (!st) return std::move(st).failure();
  if (st = until_ready(request, id, "connect_timeout_seconds"); !st) return std::move(st).failure();
  auto info = fetch_info(request.call, id);
  if (!info) return std::move(info).failure();
  return answer(with_id(id, *std::move(info)));
}

sdk::Result<sdk::ToolResult> sandbox_kill(Request& request) {
  const std::string id = request.text("sandbox_id");
  auto persona = persona_of(request.call);
  if (!persona) return std::move(persona).failure();
  auto ended = operate(request.call, "sandbox.kill", {{"sandbox", id}});
  if (!ended) return std::move(ended).failure();
  request.shared.registry.remove(*persona, id);
  return answer_status("killed");
}

sdk::Result<sdk::ToolResult> sandbox_get_info(Request& request) {
  auto info = fetch_info(request.call, request.text("sandbox_id"));
  if (!info) return std::move(info).failure();
  return answer(*info);
}

sdk::Result<sdk::ToolResult> sandbox_renew(Request& request) {
  auto timeout = milliseconds(request.args, "timeout_seconds", 0);
  if (!timeout) return std::move(timeout).failure();
  auto renewed = operate(request.call, "sandbox.renew",
                         {{"sandbox", request.text("sandbox_id")}, {"timeout_ms", *timeout}});
  if (!renewed) return std::move(renewed).failure();
  return answer(json::object{{"expires_at", date_time_or_null(*renewed, "expires_ms")}});
}

sdk::Result<sdk::ToolResult> sandbox_healthcheck(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  auto health = operate(request.call, "sandbox.health", {{"sandbox", *id}});
  if (!health) return std::move(health).failure();
  return answer(
      json::object{{"sandbox_id", *id}, {"healthy", json::boolean(*health, "healthy")}});
}

// Upstream has a number for everything. What the backend cannot measure is 0 here, and the answer's
// meta says which those are.
sdk::Result<sdk::ToolResult> sandbox_get_metrics(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  auto metrics = operate(request.call, "sandbox.metrics", {{"sandbox", *id}});
  if (!metrics) return std::move(metrics).failure();
  json::array unknown;
  const auto number = [&](const char* ours, const char* theirs) {
    const json::value* v = metrics->if_contains(ours);
    if (v == nullptr || !v->is_number()) unknown.emplace_back(theirs);
    return json::number(*metrics, ours);
  };
  constexpr double kMib = 1048576.0;
  json::object out;
  out["cpu_count"] = number("cpu_count", "cpu_count");
  out["cpu_used_percentage"] = number("cpu_percent", "cpu_used_percentage");
  out["memory_total_in_mib"] = number("memory_limit_bytes", "memory_total_in_mib") / kMib;
  out["memory_used_in_mib"] = number("memory_bytes", "memory_used_in_mib") / kMib;
  out["timestamp"] = json::integer(*metrics, "time_ms", now_ms());
  auto result = answer(out);
  if (result && !unknown.empty()) {
    result->meta(json::print(json::object{{"bulkhead/not_measured", std::move(unknown)}}));
  }
  return result;
}

sdk::Result<sdk::ToolResult> sandbox_get_endpoint(Request& request) {
  const int64_t port = json::integer(request.args, "port");
  if (port < 1 || port > 65535) return wrong("port is 1 to 65535", "/port", "give a port number");
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  auto endpoint = operate(request.call, "sandbox.endpoint", {{"sandbox", *id}, {"port", port}});
  if (!endpoint) return std::move(endpoint).failure();
  json::object out;
  out["endpoint"] = std::string(json::text(*endpoint, "endpoint"));
  const json::object* headers = json::child(*endpoint, "headers");
  out["headers"] = headers != nullptr ? *headers : json::object();
  out["origin"] = nullptr;
  return answer(out);
}

}  // namespace toolset_sandbox
