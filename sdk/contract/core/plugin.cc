#include "plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "call.h"

namespace bulkhead::sdk::contract {

Host::Host() : raw_{{&api()}, this} {}

const bh_host_api& Host::api() {
  static const bh_host_api table = {
      sizeof(bh_host_api),
      BH_ABI_MINOR,
      [](const bh_host*, int32_t level) -> uint8_t { return level >= BH_LOG_INFO ? 1 : 0; },
      [](const bh_host*, const bh_call*, int32_t, const char*, size_t, const char*, size_t) {},
      [](const bh_host*, const char*, size_t) {},
      [](const bh_host*, const char*) -> const void* { return nullptr; }};
  return table;
}

Schema::Schema(std::string_view text) {
  auto parsed = json::parse_object(text);
  if (!parsed || text.empty()) return;
  root_ = std::move(*parsed);
  valid_ = true;
}
const json::object* Schema::find(std::string_view path) const {
  const json::object* at = &root_;
  while (!path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    if (const auto* items = json::child(*at, "items")) at = items;
    const auto* properties = json::child(*at, "properties");
    if (properties == nullptr) return nullptr;
    at = json::child(*properties, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}
bool Schema::allows(std::string_view path, std::string_view word) const {
  const auto* at = find(path);
  if (at == nullptr) return false;
  const auto* words = json::list(*at, "enum");
  if (words == nullptr) return true;
  for (const auto& one : *words) {
    if (one.is_string() && json::view(one.get_string()) == word) return true;
  }
  return false;
}
bool Schema::open() const {
  const auto* more = root_.if_contains("additionalProperties");
  return more == nullptr || !more->is_bool() || more->get_bool();
}
std::vector<std::string> Schema::keys() const {
  std::vector<std::string> out;
  if (const auto* properties = json::child(root_, "properties")) {
    for (const auto& [key, schema] : *properties) out.emplace_back(key.data(), key.size());
  }
  return out;
}

namespace {

std::string platform() {
  utsname name{};
  ::uname(&name);
  return std::string("linux-") + name.machine;
}

Failure refuse(const std::string& what, std::string_view reason, std::string_view remedy) {
  return failure(BH_INVALID_ARGUMENT, what, reason, "plugin", remedy);
}

// The library of a folder, by its manifest.
Status resolve(const std::string& path, Plugin& out) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) {
    return refuse(path + ": " + std::strerror(errno), "not_found",
                  "give a plugin's library, or the folder in which it lies");
  }
  const bool folder = S_ISDIR(st.st_mode);
  const std::string place = folder ? path : path.substr(0, path.rfind('/') + 1) + ".";
  std::ostringstream text;
  text << std::ifstream(place + "/plugin.json").rdbuf();
  auto manifest = json::parse_object(text.str());
  if (!manifest)
    return refuse(place + "/plugin.json is not a JSON object", "manifest", "repair it");
  out.manifest = std::move(*manifest);
  out.library = path;
  if (!folder) return {};
  const auto* libraries = json::child(out.manifest, "library");
  const std::string_view name =
      libraries != nullptr ? json::text(*libraries, platform()) : std::string_view();
  if (name.empty()) {
    return refuse(place + "/plugin.json names no library for " + platform(), "manifest",
                  "build the plugin for this platform, or give the library itself");
  }
  out.library = place + "/" + std::string(name);
  return {};
}

}  // namespace

Result<Plugin> load(const std::string& path, const std::string& provider, const Host& host) {
  Plugin plugin;
  if (auto st = resolve(path, plugin); !st) return std::move(st).failure();
  if (plugin.library.find('/') == std::string::npos) plugin.library.insert(0, "./");
  void* library = ::dlopen(plugin.library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return refuse(::dlerror(), "load", "link it with -Wl,-z,defs");
  using Entry = const bh_plugin* (*)(bh_call*);
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "bh_plugin_entry_v1"));
  if (entry == nullptr) {
    return refuse(plugin.library + " exports no bh_plugin_entry_v1", "entry",
                  "export the entry with BH_EXPORT");
  }
  Call call(host.raw());
  plugin.descriptor = entry(call.raw());
  if (plugin.descriptor == nullptr) {
    return refuse("the entry refused: " + call.said().message, "entry", "see what it says");
  }
  const auto* list =
      static_cast<const bh_provider_list*>(plugin.descriptor->get_interface(BH_ISOLATION));
  std::string there;
  for (uint32_t i = 0; list != nullptr && i < list->count; ++i) {
    const bh_provider* one = list->items[i];
    there += std::string(there.empty() ? "" : ", ") + one->id;
    if (provider.empty() ? list->count == 1 : provider == one->id) plugin.provider = one;
  }
  if (plugin.provider == nullptr) {
    return refuse("the isolation providers of this plugin: " + (there.empty() ? "none" : there),
                  "unknown_provider", "name one of them");
  }
  const auto* table = static_cast<const bh_isolation*>(plugin.provider->table);
  if (table == nullptr || table->struct_size < 2 * sizeof(uint32_t)) {
    return refuse("the provider has no table", "table", "give bh_provider.table");
  }
  std::memcpy(&plugin.table, table, std::min<size_t>(table->struct_size, sizeof plugin.table));
  const bh_isolation& t = plugin.table;
  if (t.profile_schema == nullptr || t.exec_schema == nullptr || t.create == nullptr ||
      t.destroy == nullptr || t.release == nullptr || t.exec == nullptr) {
    return refuse("the table lacks a schema, create, destroy, release or exec", "table",
                  "these are required");
  }
  plugin.profile = Schema(t.profile_schema);
  plugin.exec = Schema(t.exec_schema);
  auto capabilities = json::parse_object(
      plugin.provider->capabilities != nullptr ? plugin.provider->capabilities : "");
  if (capabilities) plugin.capabilities = std::move(*capabilities);
  return plugin;
}

}  // namespace bulkhead::sdk::contract
