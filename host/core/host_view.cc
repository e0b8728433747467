#include "core/host_view.h"

#include <exception>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "core/call.h"
#include "core/engine.h"

namespace bh {
namespace {

const HostView& of(const bh_host* host) { return *static_cast<const HostView*>(host); }

uint8_t log_on(const bh_host* host, int32_t level) { return of(host).engine.log().on(level); }

void log(const bh_host* host, const bh_call* call, int32_t level, const char* msg, size_t msg_len,
         const char* fields, size_t fields_len) {
  try {
    std::string_view text(msg != nullptr ? msg : "", msg != nullptr ? msg_len : 0);
    std::string_view more(fields != nullptr ? fields : "", fields != nullptr ? fields_len : 0);
    const Session* whose = call != nullptr ? &static_cast<const Call*>(call)->session() : nullptr;
    of(host).engine.log().write({level, utf8::repair(text), of(host).plugin, std::string(more)},
                                whose);
  } catch (const std::exception&) {
    // A record that there is no memory for is lost; nothing may unwind into the plugin.
  }
}

void notify(const bh_host* host, const char* json, size_t json_len) {
  try {
    std::string_view text(json != nullptr ? json : "", json != nullptr ? json_len : 0);
    if (auto parsed = json::parse_object(text)) of(host).engine.notify(of(host).plugin, *parsed);
  } catch (const std::exception&) {
    // A hint may be lost.
  }
}

const void* get_service(const bh_host*, const char*) { return nullptr; }

const bh_host_api kHostApi = {sizeof(bh_host_api), BH_ABI_MINOR, log_on, log, notify, get_service};

}  // namespace

HostView::HostView(Engine& of_engine, std::string id)
    : bh_host{&kHostApi}, engine(of_engine), plugin(std::move(id)) {}

}  // namespace bh
