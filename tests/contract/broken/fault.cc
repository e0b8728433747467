#include "fault.h"

#include <dlfcn.h>
#include <sys/eventfd.h>

#include <bulkhead/sdk/json.hpp>
#include <cstring>
#include <memory>

namespace broken {

namespace {

namespace sdk = bulkhead::sdk;

const bh_provider* good_provider() {
  static const bh_provider* const provider = [] {
    void* library = ::dlopen(BH_GOOD_PLUGIN, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    using Entry = const bh_plugin* (*)(bh_call*);
    const auto entry = library != nullptr
                           ? reinterpret_cast<Entry>(::dlsym(library, "bh_plugin_entry_v1"))
                           : nullptr;
    const bh_plugin* plugin = entry != nullptr ? entry(nullptr) : nullptr;
    const auto* list =
        plugin != nullptr
            ? static_cast<const bh_provider_list*>(plugin->get_interface(BH_ISOLATION))
            : nullptr;
    return list != nullptr && list->count == 1 ? list->items[0] : nullptr;
  }();
  return provider;
}

// Everything that the tables point to, for good.
struct Made {
  std::vector<std::unique_ptr<bh_isolation>> tables;
  std::vector<std::unique_ptr<bh_provider>> providers;
  std::vector<const bh_provider*> items;
  bh_provider_list list{};
};

const bh_provider_list* all() {
  static const Made* const made = [] {
    auto* m = new Made();
    std::vector<Fault> faults = {{"good", [](bh_isolation&) {}}};
    for (const auto& part :
         {reports(), walls(), output(), commands(), lives(), manners(), tables()}) {
      faults.insert(faults.end(), part.begin(), part.end());
    }
    for (const Fault& fault : faults) {
      auto table = std::make_unique<bh_isolation>(good());
      fault.bend(*table);
      auto provider = std::make_unique<bh_provider>(*good_provider());
      provider->id = fault.name;
      provider->table = table.get();
      if (fault.describe != nullptr) fault.describe(*provider);
      m->items.push_back(provider.get());
      m->tables.push_back(std::move(table));
      m->providers.push_back(std::move(provider));
    }
    m->list = {sizeof m->list, static_cast<uint32_t>(m->items.size()), m->items.data()};
    return m;
  }();
  return &made->list;
}

}  // namespace

const bh_isolation& good() { return *static_cast<const bh_isolation*>(good_provider()->table); }

Bent::Bent(bh_call* inner) : raw_{{&api(), inner->host}, this}, inner_(inner) {}

const bh_call_api& Bent::api() {
  static const bh_call_api table = [] {
    bh_call_api t{};
    t.struct_size = sizeof t;
    t.abi_minor = BH_ABI_MINOR;
    t.fail = [](bh_call* c, bh_status code, const char* msg, size_t size, const char* details,
                size_t details_size) {
      Bent& me = of(c);
      if (me.fail) return me.fail(code, {msg, size}, {details, details_size});
      return me.inner_->api->fail(me.inner_, code, msg, size, details, details_size);
    };
    t.result = [](bh_call* c, const char* json, size_t size) {
      Bent& me = of(c);
      return me.result ? me.result({json, size}) : me.pass_result({json, size});
    };
    t.item = [](bh_call* c, const char* json, size_t size) {
      Bent& me = of(c);
      return me.item ? me.item({json, size}) : me.inner_->api->item(me.inner_, json, size);
    };
    t.emit = [](bh_call* c, int32_t stream, const void* data, size_t size) {
      Bent& me = of(c);
      const std::string_view bytes(static_cast<const char*>(data), size);
      return me.emit ? me.emit(stream, bytes) : me.pass(stream, bytes);
    };
    t.attach = [](bh_call* c, const bh_blob* b) {
      return of(c).inner_->api->attach(of(c).inner_, b);
    };
    t.event = [](bh_call* c, const char* json, size_t size) {
      of(c).inner_->api->event(of(c).inner_, json, size);
    };
    t.receive = [](bh_call* c, void* buffer, size_t size, size_t* got) {
      return of(c).inner_->api->receive(of(c).inner_, buffer, size, got);
    };
    t.receive_fd = [](bh_call* c) { return of(c).inner_->api->receive_fd(of(c).inner_); };
    t.end_input = [](bh_call* c) { of(c).inner_->api->end_input(of(c).inner_); };
    t.wait = [](bh_call* c, int64_t ns) {
      return of(c).deaf ? bh_status{BH_OK} : of(c).inner_->api->wait(of(c).inner_, ns);
    };
    t.cancel_fd = [](bh_call* c) {
      static const int never = ::eventfd(0, EFD_CLOEXEC);
      return of(c).deaf ? bh_fd{never} : of(c).inner_->api->cancel_fd(of(c).inner_);
    };
    t.time_left_ns = [](bh_call* c) { return of(c).inner_->api->time_left_ns(of(c).inner_); };
    t.get_service = [](bh_call* c, const char* id) {
      return of(c).inner_->api->get_service(of(c).inner_, id);
    };
    return t;
  }();
  return table;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}
std::string without(std::string_view profile, std::string_view key) {
  auto parsed = sdk::json::parse_object(profile);
  if (!parsed || profile.empty()) return std::string(profile);
  parsed->erase({key.data(), key.size()});
  return sdk::json::print(*parsed);
}

}  // namespace broken

BH_EXPORT const bh_plugin* BH_PLUGIN_ENTRY(bh_call* call) {
  static const bh_plugin plugin = {sizeof(bh_plugin),
                                   BH_ABI_MINOR,
                                   "bulkhead.tests.broken",
                                   "Broken",
                                   BULKHEAD_PLUGIN_VERSION,
                                   "Bulkhead",
                                   "Apache-2.0",
                                   [](const char* id) -> const void* {
                                     return std::strcmp(id, BH_ISOLATION) == 0 ? broken::all()
                                                                               : nullptr;
                                   },
                                   [](const bh_host*) {}};
  (void)call;
  return &plugin;
}
