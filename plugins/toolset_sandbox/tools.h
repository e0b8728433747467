// The tools of this plugin: one definition and one handler each.
#pragma once

#include <bulkhead/sdk.hpp>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace toolset_sandbox {

namespace sdk = bulkhead::sdk;

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

class SandboxTools : public sdk::Tools {
 public:
  SandboxTools();

 private:
  Reports reports_;
};

sdk::Tool execute_tool();
sdk::Result<sdk::ToolResult> execute(sdk::Call& call, std::string_view args, Reports& reports);

sdk::Tool run_tool();
sdk::Result<sdk::ToolResult> run(sdk::Call& call, std::string_view args, Reports& reports);

sdk::Tool info_tool();
sdk::Result<sdk::ToolResult> info(sdk::Call& call);

sdk::Tool kill_tool();
sdk::Result<sdk::ToolResult> kill(sdk::Call& call, std::string_view args);

}  // namespace toolset_sandbox
