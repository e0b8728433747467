// bulkhead/sdk/plugin.hpp - what a plugin is called and provides, and the macro that makes its one
// exported function:
//
//   BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("org.example.box", "Box", "1.0.0")
//                       .license("Apache-2.0")
//                       .isolation<Box>("box", bulkhead::sdk::Provides().title("A box")))
#ifndef BULKHEAD_SDK_PLUGIN_HPP
#define BULKHEAD_SDK_PLUGIN_HPP

#include <bulkhead/plugin.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "browser.hpp"
#include "filestore.hpp"
#include "isolation.hpp"
#include "toolset.hpp"

namespace bulkhead::sdk {

// Built once, by the macro, on the first entry; constant from then on. Everything that the tables
// point to lies in it, and it is never destroyed: the host keeps the library mapped for ever.
class Plugin {
 public:
  Plugin(std::string id, std::string name, std::string version) : state_(new State) {
    state_->id = std::move(id);
    state_->name = std::move(name);
    state_->version = std::move(version);
  }

  Plugin& vendor(std::string s) { return state_->vendor = std::move(s), *this; }
  Plugin& license(std::string spdx) { return state_->license = std::move(spdx), *this; }
  // Called once per host that entered, when everything of it is closed.
  Plugin& on_shutdown(void (*f)(Host)) { return state_->on_shutdown = f, *this; }

  template <class T>
  Plugin& isolation(std::string id, Provides texts = {}) {
    return add<Isolation, T, detail::IsolationTable<T>>(BH_ISOLATION, std::move(id),
                                                        std::move(texts));
  }
  template <class T>
  Plugin& toolset(std::string id, Provides texts = {}) {
    return add<Toolset, T, detail::ToolsetTable<T>>(BH_TOOLSET, std::move(id), std::move(texts));
  }
  template <class T>
  Plugin& browser(std::string id, Provides texts = {}) {
    return add<Browser, T, detail::BrowserTable<T>>(BH_BROWSER, std::move(id), std::move(texts));
  }
  template <class T>
  Plugin& filestore(std::string id, Provides texts = {}) {
    return add<FileStore, T, detail::FileStoreTable<T>>(BH_FILESTORE, std::move(id),
                                                        std::move(texts));
  }
  // A kind that this SDK has no class for: the caller's table, which lives for ever.
  Plugin& provider(const char* kind, const bh_provider* row) {
    state_->kinds[kind].rows.push_back(row);
    return *this;
  }

  // ---- for the trampolines

  const void* interface(const char* id) const noexcept {
    if (id == nullptr) return nullptr;
    for (const auto& [kind, list] : state_->kinds) {
      if (std::strcmp(kind.c_str(), id) == 0) return &list.table;
    }
    return nullptr;
  }
  void shutdown(const bh_host* host) const noexcept {
    if (state_->on_shutdown != nullptr) state_->on_shutdown(Host(host));
  }
  // Fills the table; the texts and lists have their final places from here on.
  const bh_plugin* seal(const void* (*get_interface)(const char*),
                        void (*host_leaves)(const bh_host*)) {
    for (auto& [kind, list] : state_->kinds) {
      (void)kind;
      list.table.struct_size = sizeof list.table;
      list.table.count = static_cast<uint32_t>(list.rows.size());
      list.table.items = list.rows.data();
    }
    bh_plugin& t = state_->table;
    t.struct_size = sizeof t;
    t.abi_minor = BH_ABI_MINOR;
    t.id = state_->id.c_str();
    t.name = state_->name.c_str();
    t.version = state_->version.c_str();
    t.vendor = state_->vendor.c_str();
    t.license = state_->license.c_str();
    t.get_interface = get_interface;
    t.shutdown = host_leaves;
    return &t;
  }

 private:
  struct Kind {
    std::vector<const bh_provider*> rows;
    bh_provider_list table{};
  };
  struct State {
    std::string id, name, version, vendor, license;
    void (*on_shutdown)(Host) = nullptr;
    std::map<std::string, Kind> kinds;
    std::vector<std::unique_ptr<detail::Provided>> owned;
    bh_plugin table{};
  };

  template <class Base, class T, class Table>
  Plugin& add(const char* kind, std::string id, Provides texts) {
    auto made = detail::provide<Base, T>(std::move(id), std::move(texts));
    made->table = Table::make(made->texts);
    made->row.table = made->table.get();
    state_->kinds[kind].rows.push_back(&made->row);
    state_->owned.push_back(std::move(made));
    return *this;
  }

  std::unique_ptr<State> state_;
};

namespace detail {

// The C functions of the plugin that Get() gives. A class per plugin, so that several can be linked
// into one program.
template <Plugin& (*Get)()>
struct Entry {
  static const void* get_interface(const char* id) noexcept { return Get().interface(id); }
  static void shutdown(const bh_host* host) noexcept { Get().shutdown(host); }
  static const bh_plugin* enter(bh_call* call) noexcept {
    const bh_plugin* table = nullptr;
    (void)guard(call, [&](Call&) -> Status {
      static const bh_plugin* sealed = Get().seal(&get_interface, &shutdown);
      table = sealed;
      return {};
    });
    return table;
  }
};

}  // namespace detail
}  // namespace bulkhead::sdk

#define BULKHEAD_PLUGIN(...)                                                   \
  namespace {                                                                  \
  ::bulkhead::sdk::Plugin& bulkhead_this_plugin() {                            \
    static auto* plugin = new ::bulkhead::sdk::Plugin(std::move(__VA_ARGS__)); \
    return *plugin;                                                            \
  }                                                                            \
  }                                                                            \
  extern "C" BH_EXPORT const bh_plugin* BH_PLUGIN_ENTRY(bh_call* call) {       \
    return ::bulkhead::sdk::detail::Entry<&bulkhead_this_plugin>::enter(call); \
  }                                                                            \
  static_assert(true, "a semicolon may follow")

#endif  // BULKHEAD_SDK_PLUGIN_HPP
