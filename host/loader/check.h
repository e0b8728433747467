// Calls a plugin's entry and checks what it hands over, before the host believes any of it: sizes,
// texts, required functions, schemas, and that binary and manifest say the same.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loader/caller.h"
#include "loader/manifest.h"
#include "loader/tables.h"

namespace bh {

// Says whether every keyword of a JSON Schema is one that the host enforces.
using SchemaCheck = std::function<Result<void>(std::string_view schema)>;

struct EnteredPlugin {
  bh_plugin
      table{};  // full-size copy; its texts and functions are the plugin's own, never unmapped
  std::vector<std::unique_ptr<Provider>> providers;
  std::vector<std::string> remarks;  // nothing that stops it, but worth knowing
};

// `manifest` is NULL for a plugin that is linked in. An entry that succeeded is shut down again
// when a later check refuses the plugin. [any] [blocking]
Checked<EnteredPlugin> enter_plugin(PluginEntry entry, const std::string& id,
                                    const Manifest* manifest, PluginCaller& caller,
                                    const SchemaCheck& check_schema);

// shutdown() of a plugin, guarded: it may throw, which is a rule broken and told in the host's log
// as the plugin's misuse, but must not end the host. `host` is the view that the plugin was given.
void shut_down(const bh_plugin& table, const bh_host* host) noexcept;

}  // namespace bh
