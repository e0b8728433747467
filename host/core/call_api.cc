#include "core/call_api.h"

#include <exception>
#include <string>

#include "base/json.h"
#include "base/utf8.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/nested.h"

namespace bh {
namespace {

Call& of(bh_call* call) { return *static_cast<Call*>(call); }

std::string_view view(const char* data, size_t size) {
  return data != nullptr ? std::string_view(data, size) : std::string_view();
}

// Nothing of ours may unwind into a plugin: what is thrown here is lack of memory.
template <class F>
bh_status guarded(F f) noexcept {
  try {
    return f();
  } catch (const std::exception&) {
    return BH_RESOURCE_EXHAUSTED;
  }
}

bh_status misuse(Call& call, std::string what) {
  call.engine().log().write({BH_LOG_PLUGIN_MISUSE, what, call.engine().plugin_of(call.host), {}},
                            &call.session());
  return call.record(fail(BH_INTERNAL, std::move(what), "plugin_misuse").value());
}

// JSON from a plugin goes on as it is, once it is known to be JSON.
Result<void> checked_json(std::string_view json) {
  if (json.size() > kMaxResult) {
    return fail(BH_RESOURCE_EXHAUSTED, "a JSON text larger than 8 MiB was given",
                "result_too_large");
  }
  auto parsed = json::parse(json);
  if (!parsed) return tl::unexpected(parsed.error().within("what the plugin answered"));
  return {};
}

bh_status api_fail(bh_call* c, bh_status code, const char* msg, size_t msg_len,
                   const char* details, size_t details_len) {
  return guarded([&] {
    Error error;
    error.code = code >= BH_CANCELLED && code <= BH_UNAUTHENTICATED ? code : BH_UNKNOWN;
    error.message = utf8::repair(view(msg, msg_len));
    auto object = json::parse_object(view(details, details_len));
    if (object) error.details = std::string(view(details, details_len));
    of(c).record(std::move(error));
    return code;
  });
}

bh_status api_result(bh_call* c, const char* json, size_t json_len) {
  return guarded([&]() -> bh_status {
    Call& call = of(c);
    if (auto ok = checked_json(view(json, json_len)); !ok) {
      return misuse(call, ok.error().message);
    }
    auto set = call.set_result(std::string(view(json, json_len)));
    if (!set && set.error().code == BH_INTERNAL) return misuse(call, set.error().message);
    return set ? BH_OK : call.record(std::move(set).error());
  });
}

bh_status api_item(bh_call* c, const char* json, size_t json_len) {
  return guarded([&]() -> bh_status {
    Call& call = of(c);
    if (auto ok = checked_json(view(json, json_len)); !ok) {
      return misuse(call, ok.error().message);
    }
    return call.item(view(json, json_len));
  });
}

bh_status api_emit(bh_call* c, int32_t stream, const void* data, size_t size) {
  return guarded([&]() -> bh_status {
    if (stream >= BH_STREAM_ATTACHED) {
      return misuse(of(c), "emit() was given a stream that belongs to attachments");
    }
    return of(c).emit(stream, view(static_cast<const char*>(data), size));
  });
}

bh_status api_attach(bh_call* c, const bh_blob* blob) {
  return guarded([&]() -> bh_status {
    Call& call = of(c);
    if (blob == nullptr || !BH_HAS(blob, bh_blob, size)) {
      return misuse(call, "attach() was given no blob, or one of an unknown shape");
    }
    return call.attach({view(blob->name.data, blob->name.size),
                        view(blob->media_type.data, blob->media_type.size),
                        view(static_cast<const char*>(blob->data), blob->size)});
  });
}

void api_event(bh_call* c, const char* json, size_t json_len) {
  (void)guarded([&]() -> bh_status {
    Call& call = of(c);
    if (auto ok = checked_json(view(json, json_len)); !ok) return misuse(call, ok.error().message);
    call.event(view(json, json_len));
    return BH_OK;
  });
}

bh_status api_receive(bh_call* c, void* buffer, size_t size, size_t* got) {
  return guarded([&]() -> bh_status {
    Call& call = of(c);
    if (got == nullptr || buffer == nullptr || size == 0) {
      return misuse(call, "receive() needs a buffer and somewhere to put the count");
    }
    return call.input().receive(call, buffer, size, got);
  });
}

bh_fd api_receive_fd(bh_call* c) { return of(c).input().fd(); }
void api_end_input(bh_call* c) { of(c).input().end(); }
bh_status api_wait(bh_call* c, int64_t timeout_ns) { return of(c).wait(timeout_ns); }
bh_fd api_cancel_fd(bh_call* c) { return of(c).cancel_fd(); }
int64_t api_time_left(bh_call* c) { return of(c).time_left_ns(); }

const void* api_get_service(bh_call* c, const char* id) {
  // Drivers have no needs and so no operations: no lock of theirs can be waited for from below.
  if (id != nullptr && std::string_view(id) == BH_OPERATIONS && of(c).needs() != nullptr) {
    return nested_operations();
  }
  return nullptr;
}

const bh_call_api kCallApi = {
    sizeof(bh_call_api), BH_ABI_MINOR,   api_fail,      api_result,    api_item,
    api_emit,            api_attach,     api_event,     api_receive,   api_receive_fd,
    api_end_input,       api_wait,       api_cancel_fd, api_time_left, api_get_service,
};

}  // namespace

const bh_call_api* call_api() { return &kCallApi; }

}  // namespace bh
