// The toolsets of the loaded plugins, opened, with their tools' lists and compiled schemas.
#pragma once

#include <bulkhead/toolset.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"
#include "core/call_lock.h"
#include "core/schema.h"
#include "loader/registry.h"
#include "state/data_root.h"

namespace bh {

struct OpenedToolset {
  const Provider* provider = nullptr;
  const bh_host* host = nullptr;
  void* self = nullptr;

  OpenedToolset() = default;
  OpenedToolset(const OpenedToolset&) = delete;
  OpenedToolset& operator=(const OpenedToolset&) = delete;
  ~OpenedToolset();
};

// One tool, as listed. Immutable.
struct Tool {
  std::string name;
  std::string definition;  // JSON: abi/schemas/tool.json, with "plugin" and "toolset"
  std::set<std::string> needs;
  std::shared_ptr<const Schema> accepts;  // what its arguments must satisfy
  bool coerces = false;  // it has an accepts_schema of its own: text may stand for JSON
  std::shared_ptr<const Schema> output;   // null: it promises none
  std::shared_ptr<OpenedToolset> toolset;
};

using ToolList = std::vector<std::shared_ptr<const Tool>>;

// A definition checked and its schemas compiled; what the host would not enforce is refused.
Result<std::shared_ptr<Tool>> compile_tool(const json::object& definition);

// All [any] [blocking].
class Toolsets {
 public:
  Toolsets(Registry& registry, PluginCaller& caller, const DataRoot& root,
           const std::map<std::string, json::object>& config);

  // In the order of their plugins; the first of a name wins. Toolsets that cannot be opened and
  // tools that are refused are told in the log and left out; toolsets are tried again at the next
  // use after a pause, which doubles from one second to half a minute. Waits for another's asking
  // as long as the call may.
  Result<std::shared_ptr<const ToolList>> all(Call& up);
  // Of the last all(): a sentence for each toolset whose tools are missing in it.
  std::vector<std::string> left_out() const;
  // Null where there is none.
  Result<std::shared_ptr<const Tool>> find(Call& up, std::string_view name);

  // A plugin's list changed: asked again when next needed. Takes no lock: a plugin may say so from
  // within its own list().
  void changed() { changes_++; }
  void close();

 private:
  Result<std::shared_ptr<OpenedToolset>> open(Call& up, const Provider& provider);
  Result<void> list_into(Call& up, const std::shared_ptr<OpenedToolset>& toolset, ToolList& tools,
                         std::set<std::string>& names);
  void report(Call& up, const Provider& provider, const std::string& what);
  void leave_out(Call& up, const Provider& provider, const std::string& why,
                 std::vector<std::string>& left_out);
  std::shared_ptr<const ToolList> current_locked() const;

  Registry& registry_;
  PluginCaller& caller_;
  const DataRoot& root_;
  const std::map<std::string, json::object>& config_;
  CallLock asking_;           // who asks the plugins
  mutable std::mutex mutex_;  // guards the six below, never while a plugin runs
  std::map<std::string, std::shared_ptr<OpenedToolset>> open_;  // by provider id
  std::shared_ptr<const ToolList> tools_;                       // null: never asked
  std::vector<std::string> left_out_;                           // with tools_
  std::uint64_t tools_as_of_ = 0;                               // changes_ when it was asked
  std::int64_t retry_at_ = 0;                                   // where some are left out
  std::int64_t retry_pause_ = 0;                                // 0: none was left out
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace bh
