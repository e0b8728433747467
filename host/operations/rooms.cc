#include "operations/rooms.h"

#include <algorithm>
#include <utility>

namespace bh {

Result<const bh_plugin*> EngineCaller::enter(PluginEntry entry, const std::string& id) {
  const bh_plugin* table = nullptr;
  const bh_host* view = host(id);
  auto done = engine_.run_internal(10 * kSecond, [&](Call& up) -> Result<void> {
    NullSink nowhere;
    NoInput none;
    CallOptions options;
    options.host = view;
    Call call(up, nowhere, none, options);
    table = entry(&call);
    if (table != nullptr) return {};
    // It says why through fail(), which has no code to return here.
    return call.recorded();
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return table;
}

const bh_host* EngineCaller::host(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto& view = views_[id];
  if (!view) view = std::make_unique<HostView>(engine_, id);
  return view.get();
}

HostRooms::HostRooms(Engine& engine, HostSettings given, DataRoot data_root)
    : settings(std::move(given)),
      root(std::move(data_root)),
      caller(engine),
      registry(settings.registry, caller),
      backends(
          root, settings.sandbox,
          [this](const std::string& id) -> Result<const Provider*> {
            return registry.find(BH_ISOLATION, id);
          },
          [this] { return registry.declared(BH_ISOLATION); },
          [this](const std::string& plugin) { return caller.host(plugin); }),
      sandboxes(root, settings.sandbox, backends),
      toolsets(registry, caller, root, settings.toolset_config) {
  registry.scan();
  // No sandbox may see, let alone write, what the next host would load.
  std::vector<std::string>& hide = settings.sandbox.hide;
  for (std::string& folder : registry.folders()) {
    if (std::find(hide.begin(), hide.end(), folder) == hide.end()) hide.push_back(std::move(folder));
  }
}

HostRooms::~HostRooms() = default;

void HostRooms::close() {
  sandboxes.close();
  toolsets.close();
  backends.close();
  registry.shutdown();
}

void HostRooms::notify(const std::string&, const json::object& what) {
  if (json::get_string(what, "changed") == "tools") toolsets.changed();
}

}  // namespace bh
