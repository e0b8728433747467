#include "loader/registry.h"

#include <algorithm>

#include "base/json.h"
#include "core/schema.h"
#include "loader/digest.h"
#include "loader/elf.h"
#include "loader/load.h"
#include "loader/names.h"
#include "loader/registry_plugin.h"

namespace bh {

namespace {

// The same as an error for whoever wanted something of that plugin.
Failure unusable(const std::string& name, const Finding& finding) {
  if (finding.status == PluginStatus::disabled) {
    return fail(BH_PERMISSION_DENIED, "plugin " + name + " is disabled by the config",
                "plugin_disabled", {{"plugin", name}, {"remedy", "take it off plugins.disabled"}});
  }
  return fail(BH_FAILED_PRECONDITION, "plugin " + name + " cannot be used: " + finding.message,
              "plugin_refused",
              {{"plugin", name}, {"stage", name_of(finding.stage)}, {"remedy", finding.hint}});
}

// Only what lies beside the library or in the system's folders came with the host; all else is
// tried out first.
bool is_foreign(const std::string& source) { return source != "relative" && source != "system"; }

Checked<std::string> read_manifest(const Folder& folder, const Trust& trust) {
  auto file = open_file(folder, "plugin.json", trust);
  if (!file) return tl::make_unexpected(file.error());
  const ByteSource bytes = ByteSource::of_fd(file->fd.get());
  if (bytes.size > kManifestLimit) {
    return refuse(LoadStage::manifest, "plugin.json is larger than 256 KiB",
                  ask_author("ship a manifest without what does not belong in it"));
  }
  std::string text(bytes.size, '\0');
  if (!bytes.read(0, text.data(), text.size())) {
    return refuse(LoadStage::manifest, "plugin.json cannot be read to its end",
                  "check the disk that " + folder.path + " lies on, or install the plugin again");
  }
  return text;
}

RegistryOptions with_defaults(RegistryOptions options) {
  if (!options.check_schema) {
    options.check_schema = [](std::string_view schema) -> Result<void> {
      BH_TRY(Schema::compile(schema));
      return {};
    };
  }
  return options;
}

}  // namespace

Registry::Registry(RegistryOptions options, PluginCaller& caller)
    : options_(with_defaults(std::move(options))),
      caller_(caller),
      probe_(options_.probe_helper, options_.probe_memory, options_.probe_time_ms) {}

Registry::~Registry() { shutdown(); }

Result<void> Registry::register_static(PluginEntry entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto plugin = std::make_unique<Plugin>();
  plugin->source = "static";
  // Its id is not known before it has been entered, so that comes with a name of ours.
  const std::string name = "static-" + std::to_string(plugins_.size());
  auto entered = enter_plugin(entry, name, nullptr, caller_, options_.check_schema);
  Result<void> answer;
  if (!entered) {
    plugin->finding = entered.error();
    answer = unusable(name, plugin->finding);
  } else {
    plugin->entered = std::move(*entered);
    plugin->finding.status = PluginStatus::loaded;
  }
  plugin->path = name;
  plugins_.push_back(std::move(plugin));
  if (answer) entered_.push_back(plugins_.back().get());
  return answer;
}

void Registry::scan() {
  std::lock_guard<std::mutex> lock(mutex_);
  SearchResult found = search_plugins(options_.search);
  places_ = std::move(found.places);
  for (PluginFolder& folder : found.folders) add(std::move(folder));
  settle_names();
}

void Registry::add(PluginFolder found) {
  auto plugin = std::make_unique<Plugin>();
  plugin->source = found.source;
  plugin->path = found.path;
  plugin->trust = found.trust;
  auto check = [&]() -> Checked<void> {
    if (!found.folder) return tl::make_unexpected(found.folder.error());
    auto text = read_manifest(*found.folder, found.trust);
    if (!text) return tl::make_unexpected(text.error());
    auto manifest = parse_manifest(*text);
    if (!manifest) return tl::make_unexpected(manifest.error());
    plugin->manifest = std::move(*manifest);
    if (auto ok = suits_host(*plugin->manifest); !ok) return ok;
    const std::string& file = plugin->manifest->library.at(std::string(own_platform()));
    auto library = open_file(*found.folder, file, found.trust);
    if (!library) return tl::make_unexpected(library.error());
    return {};
  };
  if (auto ok = check(); !ok) plugin->finding = ok.error();
  plugins_.push_back(std::move(plugin));
}

// The first plugin of an id wins, also when it is refused later: what stands first in the order is
// what runs, or nothing is. The same for providers of one name from different plugins.
void Registry::settle_names() {
  std::map<std::string, const Plugin*> ids;
  std::map<std::pair<std::string, std::string>, std::string> providers;
  for (const auto& plugin : plugins_) {
    for (const auto& provider : plugin->entered.providers) {
      providers.insert({{provider->interface, provider->id}, provider->plugin});
      ids.insert({provider->plugin, plugin.get()});
    }
  }
  const auto& off = options_.disabled;
  for (const auto& plugin : plugins_) {
    if (!plugin->manifest) continue;
    const Manifest& manifest = *plugin->manifest;
    if (std::find(off.begin(), off.end(), manifest.id) != off.end()) {
      plugin->finding = {PluginStatus::disabled, LoadStage::none, "by plugins.disabled",
                         "take " + manifest.id + " off plugins.disabled to use it"};
      continue;
    }
    const auto [first, fresh] = ids.insert({manifest.id, plugin.get()});
    if (!fresh) {
      plugin->finding = {PluginStatus::shadowed, LoadStage::none,
                         first->second->path + " comes first",
                         "remove one of the two, or name the place of the wanted one first in "
                         "plugins.path"};
      continue;
    }
    for (const DeclaredProvider& each : manifest.provides) {
      const auto [taken, mine] = providers.insert({{each.interface, each.id}, manifest.id});
      if (mine) continue;
      plugin->remarks.push_back(each.interface + " \"" + each.id + "\" is already offered by " +
                                taken->second);
    }
  }
}

std::vector<std::string> Registry::declared(std::string_view interface) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> ids;
  const auto take = [&](const std::string& kind, const std::string& id) {
    if (kind == interface && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (const auto& plugin : plugins_) {
    const bool usable = plugin->finding.status == PluginStatus::available ||
                        plugin->finding.status == PluginStatus::loaded;
    if (!usable) continue;
    for (const auto& each : plugin->entered.providers) take(each->interface, each->id);
    if (!plugin->manifest) continue;
    for (const auto& each : plugin->manifest->provides) take(each.interface, each.id);
  }
  return ids;
}

std::vector<std::string> Registry::folders() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> all;
  const auto take = [&](const std::string& path) {
    if (std::find(all.begin(), all.end(), path) == all.end()) all.push_back(path);
  };
  for (const SearchedPlace& place : places_) {
    if (!place.real.empty()) take(place.real);
  }
  for (const auto& plugin : plugins_) {
    if (plugin->source != "static") take(plugin->path);
  }
  return all;
}

Registry::Plugin* Registry::owner_of(std::string_view interface, std::string_view id) const {
  Plugin* off = nullptr;
  for (const auto& plugin : plugins_) {
    if (!plugin->offers(interface, id)) continue;
    if (plugin->finding.status != PluginStatus::disabled) return plugin.get();
    if (off == nullptr) off = plugin.get();
  }
  return off;
}

Result<const Provider*> Registry::find(std::string_view interface, std::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string name = std::string(interface) + " \"" + std::string(id) + "\"";
  if (closed_) return fail(BH_FAILED_PRECONDITION, "the runtime is closed", "closed");
  Plugin* plugin = owner_of(interface, id);
  if (plugin == nullptr) {
    return fail(BH_NOT_FOUND, "no plugin offers " + name, "unknown_provider",
                {{"remedy", "plugin.list shows what was found, and where it was looked for"}});
  }
  load(*plugin);
  if (plugin->finding.status != PluginStatus::loaded) {
    return unusable(plugin->manifest ? plugin->manifest->id : plugin->path, plugin->finding);
  }
  for (const auto& each : plugin->entered.providers) {
    if (each->interface == interface && each->id == id) return each.get();
  }
  return fail(BH_INTERNAL, name + " is declared and not there");
}

std::vector<const Provider*> Registry::providers(std::string_view interface) {
  std::vector<const Provider*> all;
  for (const std::string& id : declared(interface)) {
    if (auto provider = find(interface, id)) all.push_back(*provider);
  }
  return all;
}

void Registry::load_all() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  for (const auto& plugin : plugins_) load(*plugin);
}

void Registry::load(Plugin& plugin) {
  if (plugin.finding.status != PluginStatus::available) return;
  auto entered = load_checked(plugin);
  if (!entered) {
    plugin.finding = entered.error();
    return;
  }
  plugin.entered = std::move(*entered);
  plugin.finding.status = PluginStatus::loaded;
  for (std::string& remark : plugin.entered.remarks) plugin.remarks.push_back(std::move(remark));
  entered_.push_back(&plugin);
}

// Opens it all anew: between the scan and now, anything may have been installed.
Checked<EnteredPlugin> Registry::load_checked(Plugin& plugin) {
  const Manifest& manifest = *plugin.manifest;
  auto folder = open_folder(plugin.path, plugin.trust);
  if (!folder) return tl::make_unexpected(folder.error());
  if (!*folder) return refuse(LoadStage::permission, plugin.path + " has gone since the scan",
                               "install the plugin again, and start the host again");
  const std::string& file = manifest.library.at(std::string(own_platform()));
  auto library = open_file(**folder, file, plugin.trust);
  if (!library) return tl::make_unexpected(library.error());

  auto sha256 = sha256_of(library->fd.get());
  if (!sha256) {
    return refuse(LoadStage::hash, sha256.error().message,
                  "check the disk that " + library->path + " lies on, or install the plugin again");
  }
  if (auto ok = check_hash(plugin, *sha256); !ok) return tl::make_unexpected(ok.error());

  auto exports = inspect_elf(ByteSource::of_fd(library->fd.get()));
  if (!exports) return tl::make_unexpected(exports.error());
  if (auto ok = check_exports(*exports); !ok) return tl::make_unexpected(ok.error());
  if (exports->others > 0) {
    plugin.remarks.push_back("exports " + std::to_string(exports->others) +
                             " symbols beside its entry");
  }
  if (is_foreign(plugin.source)) {
    const auto tried = probe_.try_out(*library, *sha256);
    if (!tried) return tl::make_unexpected(tried.error());
    if (!*tried) {
      plugin.remarks.push_back(
          "was not tried out in a process of its own: the helper "
          "bulkhead-probe is not there");
    }
  }
  auto entry = load_library(*library);
  if (!entry) return tl::make_unexpected(entry.error());
  return enter_plugin(*entry, manifest.id, &manifest, caller_, options_.check_schema);
}

Checked<void> Registry::check_hash(Plugin& plugin, const std::string& sha256) {
  const auto pinned = options_.sha256.find(plugin.manifest->id);
  if (pinned != options_.sha256.end() && pinned->second != sha256) {
    return refuse(LoadStage::hash,
                  "its sha256 is " + sha256 + ", the config wants " + pinned->second,
                  "find out who changed the file; then correct plugins.sha256");
  }
  const auto given = plugin.manifest->sha256.find(std::string(own_platform()));
  if (given == plugin.manifest->sha256.end()) {
    plugin.remarks.push_back("its manifest gives no sha256");
    return {};
  }
  if (given->second == sha256) return {};
  return refuse(LoadStage::hash, "its sha256 is " + sha256 + ", the manifest says " + given->second,
                "install library and manifest together; if nobody did so, find out who changed the "
                "file");
}

void Registry::shutdown() {
  std::vector<Plugin*> entered;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    entered.swap(entered_);
  }
  // Without the lock: a plugin may wait here, and log, which may ask for the report.
  for (auto plugin = entered.rbegin(); plugin != entered.rend(); ++plugin) {
    const std::string id = (*plugin)->manifest ? (*plugin)->manifest->id : (*plugin)->path;
    shut_down((*plugin)->entered.table, caller_.host(id));
  }
}

}  // namespace bh
