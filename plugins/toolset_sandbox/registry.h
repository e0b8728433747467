// Which sandboxes this process made or connected to, and the enforcement reports that were told.
//
// Upstream keeps one registry for each server process. A plugin is not told which session calls, so
// ours is for each persona of the process: two sessions of one persona share it, and a sandbox of
// another persona is as unknown as one that does not exist.
#pragma once

#include <bulkhead/sdk.hpp>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace toolset_sandbox {

namespace sdk = bulkhead::sdk;

// Any thread.
class Registry {
 public:
  bool has(const std::string& persona, const std::string& sandbox) const;
  void add(const std::string& persona, const std::string& sandbox);
  void remove(const std::string& persona, const std::string& sandbox);

 private:
  using Entry = std::pair<std::string, std::string>;
  // The oldest is forgotten then, and has to be connected to again.
  static constexpr size_t kMost = 16384;
  mutable std::mutex m_;
  std::set<Entry> entries_;
  std::deque<Entry> order_;
};

// Which sandboxes' enforcement reports a caller has seen: each is told once, with the first
// command. Any thread.
class Reports {
 public:
  bool first(const std::string& sandbox);

 private:
  // Sandboxes are never named twice, so old ones may be forgotten; one that lives is then told
  // again.
  static constexpr size_t kMost = 4096;
  std::mutex m_;
  std::set<std::string> told_;
};

// Whose call it is. Needs host.inspect.
sdk::Result<std::string> persona_of(sdk::Call& call);

// The id, if this process knows the sandbox or `connect` is set and it can be connected to. Needs
// host.inspect and sandbox.connect.
sdk::Status known(sdk::Call& call, Registry& registry, const std::string& sandbox, bool connect);

}  // namespace toolset_sandbox
