// bulkhead/sdk/testing/fake_host.hpp - enough of a host to unit-test a plugin's code:
//
//   FakeHost host;
//   auto tools = host.open<bh_toolset>(&bh_plugin_entry_v1, BH_TOOLSET, "echo");
//   FakeCall call(host.raw());
//   tools->call(tools.self(), call.raw(), "echo", 4, args, args_size, nullptr, 0);
//   REQUIRE(call.recorded().result == ...);
//
// It checks nothing that a real host checks (schemas, permissions), so tests of whole plugins
// belong above the real one.
#ifndef BULKHEAD_SDK_TESTING_FAKE_HOST_HPP
#define BULKHEAD_SDK_TESTING_FAKE_HOST_HPP

#include <functional>
#include <stdexcept>
#include <utility>

#include "../result.hpp"
#include "fake_call.hpp"

namespace bulkhead::sdk::testing {

struct LogRecord {
  int32_t level = 0;
  std::string message, fields;
};

// A provider that a FakeHost opened; closes it when destroyed. Use it like a pointer to the table.
template <class Table>
class Opened {
 public:
  Opened(const bh_provider* provider, void* self) : provider_(provider), self_(self) {}
  Opened(Opened&& o) noexcept
      : provider_(std::exchange(o.provider_, nullptr)), self_(std::exchange(o.self_, nullptr)) {}
  Opened& operator=(Opened&&) = delete;
  ~Opened() {
    if (provider_ != nullptr && provider_->close != nullptr) provider_->close(self_);
  }
  const Table* operator->() const { return static_cast<const Table*>(provider_->table); }
  void* self() const { return self_; }
  const bh_provider& provider() const { return *provider_; }

 private:
  const bh_provider* provider_;
  void* self_;
};

// Outlives what it opened. The plugin's side may be used from several threads.
class FakeHost {
 public:
  using Entry = const bh_plugin* (*)(bh_call*);

  FakeHost() : raw_{{&api()}, this} {}
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  const bh_host* raw() const { return &raw_.host; }
  std::vector<LogRecord> logs() const {
    std::lock_guard lock(m_);
    return logs_;
  }
  std::vector<std::string> notifications() const {
    std::lock_guard lock(m_);
    return notifications_;
  }
  FakeHost& service(std::string id, const void* table) {
    return services_[std::move(id)] = table, *this;
  }
  FakeHost& lowest_level(int32_t level) { return lowest_ = level, *this; }

  // The provider of that kind and id, opened. Throws std::runtime_error where a host would refuse
  // the plugin.
  template <class Table>
  Opened<Table> open(Entry entry, const char* kind, std::string_view id,
                     std::string_view config = "{}", std::string_view state_dir = {}) const {
    FakeCall call(raw());
    const bh_plugin* plugin = entry(call.raw());
    if (plugin == nullptr) throw std::runtime_error("entry: " + call.recorded().message);
    const bh_provider* provider = find(plugin, kind, id);
    if (provider == nullptr) throw std::runtime_error("no provider " + std::string(id));
    bh_opening how{};
    how.struct_size = sizeof how;
    how.config = str(config);
    how.instance = str("test");
    how.owner = str("test");
    how.state_dir = str(state_dir);
    void* self = nullptr;
    if (provider->open != nullptr) {
      if (provider->open(call.raw(), &how, &self) != BH_OK) {
        throw std::runtime_error("open: " + call.recorded().message);
      }
    }
    return Opened<Table>(provider, self);
  }
  static const bh_provider* find(const bh_plugin* plugin, const char* kind, std::string_view id) {
    const auto* list = static_cast<const bh_provider_list*>(plugin->get_interface(kind));
    if (list == nullptr) return nullptr;
    for (uint32_t i = 0; i < list->count; ++i) {
      if (id == list->items[i]->id) return list->items[i];
    }
    return nullptr;
  }

 private:
  struct Raw {
    bh_host host;
    FakeHost* self;
  };
  static FakeHost& of(const bh_host* h) { return *reinterpret_cast<const Raw*>(h)->self; }
  static uint8_t log_on(const bh_host* h, int32_t level) { return level >= of(h).lowest_ ? 1 : 0; }
  static void log(const bh_host* h, const bh_call*, int32_t level, const char* msg, size_t size,
                  const char* fields, size_t fields_size) {
    std::lock_guard lock(of(h).m_);
    of(h).logs_.push_back(
        {level, std::string(view(msg, size)), std::string(view(fields, fields_size))});
  }
  static void notify(const bh_host* h, const char* json, size_t size) {
    std::lock_guard lock(of(h).m_);
    of(h).notifications_.emplace_back(view(json, size));
  }
  static const void* get_service(const bh_host* h, const char* id) {
    const auto it = of(h).services_.find(id);
    return it != of(h).services_.end() ? it->second : nullptr;
  }
  static const bh_host_api& api() {
    static const bh_host_api table = {sizeof(bh_host_api), BH_ABI_MINOR, &log_on, &log, &notify,
                                      &get_service};
    return table;
  }

  Raw raw_;
  mutable std::mutex m_;
  std::vector<LogRecord> logs_;
  std::vector<std::string> notifications_;
  int32_t lowest_ = BH_LOG_TRACE;
  std::map<std::string, const void*, std::less<>> services_;
};

}  // namespace bulkhead::sdk::testing

#endif  // BULKHEAD_SDK_TESTING_FAKE_HOST_HPP
