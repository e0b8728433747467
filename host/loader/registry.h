// All plugins of one runtime: found at start by their manifests alone, loaded when something first
// needs them, kept until shutdown, and reported on. What goes wrong with one plugin is a line in
// the report and never stops another.
//
// Threads: all functions are [any] except shutdown(), which is [last]. Loading waits for nobody but
// other loads. Owner: the runtime. Pointers to providers stay good until the registry is gone; the
// plugins' code stays mapped until the process ends.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "loader/check.h"
#include "loader/probe.h"
#include "loader/search.h"

namespace bh {

struct RegistryOptions {
  SearchOptions search;
  std::vector<std::string> disabled;          // plugin ids
  std::map<std::string, std::string> sha256;  // plugin id -> the only hash that will do
  SchemaCheck check_schema;                   // empty: core's, which refuses what it cannot enforce
  std::string probe_memory;                   // see PluginProbe; a folder below the data root
  std::string probe_helper;                   // for tests
  int probe_time_ms = 10000;                  // what loading and entering may take
};

// Reads the config's "plugins" object into `search`, `disabled` and `sha256`; unknown keys are
// refused by name. Errors: INVALID_ARGUMENT with field and remedy.
Result<RegistryOptions> read_registry_options(const boost::json::object& plugins);

class Registry {
 public:
  // `caller` must outlive the registry.
  Registry(RegistryOptions options, PluginCaller& caller);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A plugin that is linked into the program; entered at once, before all that a scan finds, so
  // call it before scan(). FAILED_PRECONDITION: refused, and why (also in the report).
  Result<void> register_static(PluginEntry entry);

  // Looks at all places and reads all manifests; runs no foreign code. Once.
  void scan();

  // The ids of a kind by manifest, in search order; loads nothing, and promises nothing.
  std::vector<std::string> declared(std::string_view interface) const;

  // One provider; loads its plugin when this is the first need of it. NOT_FOUND: nothing offers it;
  // PERMISSION_DENIED: disabled; FAILED_PRECONDITION: its plugin is refused or failed, with the
  // finding's remedy.
  Result<const Provider*> find(std::string_view interface, std::string_view id);

  // All usable providers of a kind in search order; loads every plugin that declares one. Those
  // that cannot be used are left out (the report tells).
  std::vector<const Provider*> providers(std::string_view interface);

  // Loads everything that may be loaded (plugin.list with probe, doctor).
  void load_all();

  // {"plugins":[...],"searched":[...]}, the result of plugin.list without its probes.
  boost::json::object report() const;

  // The folders that plugins were looked for and found in, without links: what no sandbox may see,
  // let alone write.
  std::vector<std::string> folders() const;

  // shutdown() of each entered plugin, once, with its own host view, the last entered first.
  // Nothing is found afterwards. [last] [blocking]
  void shutdown();

 private:
  struct Plugin;

  void add(PluginFolder found);
  void settle_names();
  Plugin* owner_of(std::string_view interface, std::string_view id) const;
  void load(Plugin& plugin);
  Checked<EnteredPlugin> load_checked(Plugin& plugin);
  Checked<void> check_hash(Plugin& plugin, const std::string& sha256);
  static boost::json::object describe(const Plugin& plugin);

  const RegistryOptions options_;
  PluginCaller& caller_;
  PluginProbe probe_;
  mutable std::mutex mutex_;                      // guards all below
  std::vector<std::unique_ptr<Plugin>> plugins_;  // in search order
  std::vector<Plugin*> entered_;                  // in the order of their entries
  std::vector<SearchedPlace> places_;
  bool closed_ = false;
};

}  // namespace bh
