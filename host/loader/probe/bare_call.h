// The smallest call that a plugin's entry can be given: it takes every answer and keeps the error.
// For the helper and for tests; the host's own calls are core's.
#pragma once

#include <bulkhead/plugin.h>

#include <string>

namespace bh::probe {

class BareCall {
 public:
  BareCall() {
    call_.self = this;
    host_.api = &host_api();
    call_.api = &call_api();
    call_.host = &host_;
  }
  BareCall(const BareCall&) = delete;
  BareCall& operator=(const BareCall&) = delete;

  bh_call* call() { return &call_; }
  const bh_host* host() const { return &host_; }
  bool failed() const { return code_ != BH_OK; }
  bh_status code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  // What the plugin sees, and behind it the way back to us.
  struct Slot : bh_call {
    BareCall* self = nullptr;
  };

  static BareCall* of(bh_call* call) { return static_cast<Slot*>(call)->self; }

  static const bh_host_api& host_api() {
    static const bh_host_api api = [] {
      bh_host_api table{};
      table.struct_size = sizeof table;
      table.abi_minor = BH_ABI_MINOR;
      table.log_on = [](const bh_host*, int32_t) -> uint8_t { return 0; };
      table.log = [](const bh_host*, const bh_call*, int32_t, const char*, size_t, const char*,
                     size_t) {};
      table.notify = [](const bh_host*, const char*, size_t) {};
      table.get_service = [](const bh_host*, const char*) -> const void* { return nullptr; };
      return table;
    }();
    return api;
  }

  static const bh_call_api& call_api() {
    static const bh_call_api api = [] {
      bh_call_api table{};
      table.struct_size = sizeof table;
      table.abi_minor = BH_ABI_MINOR;
      table.fail = [](bh_call* call, bh_status code, const char* text, size_t size, const char*,
                      size_t) {
        of(call)->code_ = code;
        of(call)->message_.assign(text == nullptr ? "" : text, text == nullptr ? 0 : size);
        return code;
      };
      table.result = [](bh_call*, const char*, size_t) -> bh_status { return BH_OK; };
      table.item = [](bh_call*, const char*, size_t) -> bh_status { return BH_OK; };
      table.emit = [](bh_call*, int32_t, const void*, size_t) -> bh_status { return BH_OK; };
      table.attach = [](bh_call*, const bh_blob*) -> bh_status { return BH_OK; };
      table.event = [](bh_call*, const char*, size_t) {};
      table.receive = [](bh_call*, void*, size_t, size_t* got) -> bh_status {
        *got = 0;
        return BH_OK;
      };
      table.receive_fd = [](bh_call*) -> bh_fd { return -1; };
      table.end_input = [](bh_call*) {};
      table.wait = [](bh_call*, int64_t) -> bh_status { return BH_OK; };
      table.cancel_fd = [](bh_call*) -> bh_fd { return -1; };
      table.time_left_ns = [](bh_call*) -> int64_t { return INT64_MAX; };
      table.get_service = [](bh_call*, const char*) -> const void* { return nullptr; };
      return table;
    }();
    return api;
  }

  Slot call_;
  bh_host host_{};
  bh_status code_ = BH_OK;
  std::string message_;
};

}  // namespace bh::probe
