#include "registry.h"

#include <algorithm>
#include <bulkhead/sdk/json.hpp>

namespace toolset_sandbox {

namespace json = bulkhead::sdk::json;

bool Registry::has(const std::string& persona, const std::string& sandbox) const {
  std::lock_guard lock(m_);
  return entries_.count({persona, sandbox}) != 0;
}

void Registry::add(const std::string& persona, const std::string& sandbox) {
  std::lock_guard lock(m_);
  if (!entries_.insert({persona, sandbox}).second) return;
  order_.emplace_back(persona, sandbox);
  if (order_.size() <= kMost) return;
  entries_.erase(order_.front());
  order_.pop_front();
}

void Registry::remove(const std::string& persona, const std::string& sandbox) {
  std::lock_guard lock(m_);
  const Entry entry(persona, sandbox);
  if (entries_.erase(entry) != 0) order_.erase(std::find(order_.begin(), order_.end(), entry));
}

bool Reports::first(const std::string& sandbox) {
  std::lock_guard lock(m_);
  if (told_.size() >= kMost) told_.clear();
  return told_.insert(sandbox).second;
}

sdk::Result<std::string> persona_of(sdk::Call& call) {
  auto inspected = sdk::Operation("host.inspect").run(call);
  if (!inspected) return std::move(inspected).failure();
  auto host = json::parse_object(*inspected);
  if (!host) return std::move(host).failure();
  return std::string(json::text(*host, "persona"));
}

sdk::Status known(sdk::Call& call, Registry& registry, const std::string& sandbox, bool connect) {
  auto persona = persona_of(call);
  if (!persona) return std::move(persona).failure();
  if (registry.has(*persona, sandbox)) return {};
  if (!connect) {
    // The sentence is upstream's, word for word: clients look for it.
    return sdk::failure(BH_FAILED_PRECONDITION,
                        "Sandbox not found in local registry. Call sandbox_connect or set "
                        "connect_if_missing=True with connection parameters.",
                        "not_connected");
  }
  auto connected = sdk::Operation("sandbox.connect")
                       .args(sdk::JsonObject().text("sandbox", sandbox).str())
                       .run(call);
  if (!connected) return std::move(connected).failure();
  registry.add(*persona, sandbox);
  return {};
}

}  // namespace toolset_sandbox
