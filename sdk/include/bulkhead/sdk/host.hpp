// bulkhead/sdk/host.hpp - the host as a plugin sees it: logging, hints, services.
#ifndef BULKHEAD_SDK_HOST_HPP
#define BULKHEAD_SDK_HOST_HPP

#include <bulkhead/plugin.h>

#include <string_view>

#include "text.hpp"

namespace bulkhead::sdk {

// A view, cheap to copy, valid until the plugin's shutdown. May be kept by what open() made. All
// functions are [any] and never wait.
class Host {
 public:
  Host() = default;
  explicit Host(const bh_host* raw) : raw_(raw) {}

  // Cheap: ask before a message is put together.
  bool log_on(int32_t level) const { return raw_->api->log_on(raw_, level) != 0; }
  // `fields` is a JSON object or empty; `call` tells whose work it was, or is null.
  void log(int32_t level, std::string_view message, std::string_view fields = {},
           const bh_call* call = nullptr) const {
    if (!log_on(level)) return;
    raw_->api->log(raw_, call, level, message.data(), message.size(), fields.data(), fields.size());
  }
  // {"changed":"tools"}: ask again. A hint that may be merged with others.
  void notify(std::string_view json) const { raw_->api->notify(raw_, json.data(), json.size()); }
  // An optional table, or null where this host has none.
  template <class Table>
  const Table* service(const char* id) const {
    return static_cast<const Table*>(raw_->api->get_service(raw_, id));
  }
  const bh_host* raw() const { return raw_; }

 private:
  const bh_host* raw_ = nullptr;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_HOST_HPP
