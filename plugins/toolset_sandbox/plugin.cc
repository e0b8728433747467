// The tools that run code and commands in the caller's sandbox. Each is thin: it turns the names
// and shapes that models know into the host's operations, and their results into sentences.
#include "tools.h"

namespace toolset_sandbox {

SandboxTools::SandboxTools() {
  add(execute_tool(), [this](sdk::Call& call, std::string_view args, sdk::Blobs) {
    return execute(call, args, reports_);
  });
  add(run_tool(), [this](sdk::Call& call, std::string_view args, sdk::Blobs) {
    return run(call, args, reports_);
  });
  add(info_tool(), [](sdk::Call& call, std::string_view, sdk::Blobs) { return info(call); });
  add(kill_tool(),
      [](sdk::Call& call, std::string_view args, sdk::Blobs) { return kill(call, args); });
}

bool Reports::first(const std::string& sandbox) {
  std::lock_guard lock(m_);
  if (told_.size() >= kMost) told_.clear();
  return told_.insert(sandbox).second;
}

}  // namespace toolset_sandbox

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.toolset_sandbox", "Sandbox tools",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .toolset<toolset_sandbox::SandboxTools>(
                        "sandbox",
                        bulkhead::sdk::Provides().title("Run code and commands in a sandbox")));
