#include "operations/rooms.h"

#include <algorithm>
#include <memory>
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
      db(root),
      records(db),
      job_records(db),
      image_records(db),
      images(root, settings.images, image_records),
      caller(engine),
      registry(settings.registry, caller),
      backends(
          root, settings.sandbox,
          [this](const std::string& id) -> Result<const Provider*> {
            return registry.find(BH_ISOLATION, id);
          },
          [this] { return registry.declared(BH_ISOLATION); },
          [this](const std::string& plugin) { return caller.host(plugin); }),
      sandboxes(root, settings.sandbox, backends, images, records, job_records,
                [&engine](std::int64_t timeout_ns, const std::function<Result<void>(Call&)>& work) {
                  return engine.run_internal(timeout_ns, work);
                }),
      stores(
          root, settings.files,
          [this](const std::string& id) -> Result<const Provider*> {
            return registry.find(BH_FILESTORE, id);
          },
          [this] { return registry.declared(BH_FILESTORE); },
          [this](const std::string& plugin) { return caller.host(plugin); }),
      files(root, settings.files, stores),
      jobs(root, job_records),
      toolsets(registry, caller, root, settings.toolset_config),
      engine_(engine) {
  registry.scan();
  // No sandbox may see, let alone write, what the next host would load.
  std::vector<std::string>& hide = settings.sandbox.hide;
  for (std::string& folder : registry.folders()) {
    if (std::find(hide.begin(), hide.end(), folder) == hide.end()) hide.push_back(std::move(folder));
  }
  images.sweep();
  sandboxes.start();
}

HostRooms::~HostRooms() = default;

void HostRooms::close() {
  if (!sandboxes.close()) {
    // A plugin is stuck in what the host does by itself: all that it may still use stays, for good.
    (void)std::make_unique<std::shared_ptr<Engine>>(engine_.shared_from_this()).release();
    return;
  }
  toolsets.close();
  stores.close();
  backends.close();
  registry.shutdown();
  db.close();
}

namespace {

// The ids of a kind that any manifest offers, whatever became of its plugin.
std::vector<std::string> offered(const json::object& report, std::string_view interface,
                                 bool* readable) {
  std::vector<std::string> ids;
  const json::array* plugins = json::get_array(report, "plugins");
  if (plugins == nullptr) return ids;
  for (const json::value& v : *plugins) {
    const json::object* plugin = v.if_object();
    if (plugin == nullptr) continue;
    if (json::get_string(*plugin, "stage") == "manifest") *readable = false;
    const json::array* provides = json::get_array(*plugin, "provides");
    if (provides == nullptr) continue;
    for (const json::value& p : *provides) {
      const json::object* o = p.if_object();
      if (o == nullptr || json::get_string(*o, "interface") != interface) continue;
      ids.emplace_back(json::get_string(*o, "id"));
    }
  }
  return ids;
}

// Each name with the member of the configuration that holds it.
using Named = std::map<std::string, std::string>;

Named names_in(std::string_view group, const std::map<std::string, json::object>& config) {
  Named out;
  for (const auto& [name, value] : config) {
    std::string& field = out[name];
    field = "/";
    field.append(group).append("/config/").append(name);
  }
  return out;
}

Result<void> check_names(const json::object& report, std::string_view interface,
                         const Named& named) {
  bool readable = true;
  std::vector<std::string> ids = offered(report, interface, &readable);
  for (const auto& [name, field] : named) {
    if (!readable || std::find(ids.begin(), ids.end(), name) != ids.end()) continue;
    std::string known;
    for (const std::string& id : ids) known += (known.empty() ? "" : ", ") + id;
    return fail(BH_INVALID_ARGUMENT,
                "config " + field + ": no plugin offers " + json::quote(name) + "; there are: " +
                    (known.empty() ? "none" : known),
                "unknown_key", {{"field", field}});
  }
  return {};
}

}  // namespace

Result<void> HostRooms::check_config_names() const {
  const Named backend_names = names_in("isolation", settings.sandbox.backend_config);
  const Named toolset_names = names_in("toolsets", settings.toolset_config);
  Named store_names = names_in("files", settings.files.config);
  if (!settings.files.store.empty()) store_names[settings.files.store] = "/files/store";
  if (backend_names.empty() && toolset_names.empty() && store_names.empty()) return {};
  json::object report = registry.report();
  BH_TRY(check_names(report, BH_ISOLATION, backend_names));
  BH_TRY(check_names(report, BH_FILESTORE, store_names));
  return check_names(report, BH_TOOLSET, toolset_names);
}

void HostRooms::notify(const std::string&, const json::object& what) {
  if (json::get_string(what, "changed") == "tools") toolsets.changed();
}

}  // namespace bh
