// bulkhead/sdk/operations.hpp - running the host's operations (host/operations.md) from a tool:
//
//   auto result = sdk::Operation("sandbox.exec")
//                     .args(R"({"argv":["uname","-a"],"collect":true})")
//                     .run(call);
//
// The persona, the policy and the deadline of the tool's own call hold for it.
#ifndef BULKHEAD_SDK_OPERATIONS_HPP
#define BULKHEAD_SDK_OPERATIONS_HPP

#include <bulkhead/toolset.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call.hpp"

namespace bulkhead::sdk {

// One operation, put together and run once. Not shared between threads. The on_… functions are
// called one at a time, from any thread, until run() returns; a Status that is not ok ends the
// operation and is what run() gives. What has no function is dropped.
class Operation {
 public:
  using OnText = std::function<Status(std::string_view json)>;
  using OnOutput = std::function<Status(int32_t stream, std::string_view data)>;
  using OnAttachment = std::function<Status(const bh_blob& blob)>;

  explicit Operation(std::string name) : name_(std::move(name)) {}

  Operation& args(std::string json) { return args_ = std::move(json), *this; }
  // The bytes that it reads as its input, known beforehand.
  Operation& input(std::string bytes) {
    return input_ = std::move(bytes), has_input_ = true, *this;
  }
  // Further bytes beside the arguments; they must outlive run().
  Operation& blob(const bh_blob& b) { return blobs_.push_back(&b), *this; }
  // Its output, items, progress and attachments also go to the tool's own caller.
  Operation& pass_output() { return flags_ |= BH_RUN_OUTPUT, *this; }
  // It reads the input of the tool's own call.
  Operation& pass_input() { return flags_ |= BH_RUN_INPUT, *this; }
  // Runs although the call was stopped, for 2 s at most: to clean up.
  Operation& cleanup() { return flags_ |= BH_RUN_CLEANUP, *this; }
  // Names it for cancel().
  Operation& tag(uint64_t tag) { return tag_ = tag, *this; }
  Operation& timeout(std::chrono::nanoseconds t) { return timeout_ = t, *this; }
  Operation& on_item(OnText f) { return on_item_ = std::move(f), *this; }
  Operation& on_output(OnOutput f) { return on_output_ = std::move(f), *this; }
  Operation& on_attachment(OnAttachment f) { return on_attachment_ = std::move(f), *this; }

  // To its end, on this thread. Gives the result's JSON, empty where it has none; a failure has
  // the operation's own code, message and details. [blocking]
  Result<std::string> run(Call& call) {
    const auto* table = call.service<bh_operations>(BH_OPERATIONS);
    if (table == nullptr) {
      return failure(BH_FAILED_PRECONDITION, "the host offers no operations to this call",
                     "no_operations", {}, "only tools may run operations");
    }
    bh_blob input{};
    std::vector<const bh_blob*> blobs = blobs_;
    if (has_input_) {
      input.struct_size = sizeof input;
      input.name = str("input");
      input.media_type = str("application/octet-stream");
      input.data = input_.data();
      input.size = input_.size();
      blobs.push_back(&input);
    }
    bh_run_io io{};
    io.struct_size = sizeof io;
    io.flags = flags_;
    io.tag = tag_;
    io.timeout_ns = timeout_.count();
    io.ctx = this;
    io.result = &take_result;
    io.item = on_item_ ? &take_item : nullptr;
    io.emit = on_output_ ? &take_output : nullptr;
    io.attach = on_attachment_ ? &take_attachment : nullptr;
    io.fault = &take_fault;
    const bh_status st = table->run(call.raw(), name_.data(), name_.size(), args_.data(),
                                    args_.size(), blobs.data(), blobs.size(), &io);
    if (own_) return *own_;
    if (st != BH_OK) return fault_ ? *fault_ : Failure(st);
    return std::move(result_);
  }

  // Stops this call's runs with that tag.
  static void cancel(Call& call, uint64_t tag) {
    const auto* table = call.service<bh_operations>(BH_OPERATIONS);
    if (table != nullptr) table->cancel(call.raw(), tag);
  }

 private:
  // Runs one of the author's functions; what it throws ends the operation.
  template <class Body>
  bh_status handle(Body&& body) noexcept {
    try {
      const Status st = body();
      if (st.ok()) return BH_OK;
      if (!own_) own_ = st.failure();
    } catch (const std::exception& e) {
      own_ = failure(BH_INTERNAL, e.what(), "exception");
    } catch (...) {
      own_ = failure(BH_INTERNAL, "an exception that is not a std::exception", "exception");
    }
    return own_->code();
  }
  static Operation& self(void* ctx) { return *static_cast<Operation*>(ctx); }
  static bh_status take_result(void* ctx, const char* json, size_t size) noexcept {
    return self(ctx).handle([&]() -> Status {
      self(ctx).result_ = view(json, size);
      return {};
    });
  }
  static bh_status take_item(void* ctx, const char* json, size_t size) noexcept {
    return self(ctx).handle([&] { return self(ctx).on_item_(view(json, size)); });
  }
  static bh_status take_output(void* ctx, int32_t stream, const void* data, size_t size) noexcept {
    return self(ctx).handle(
        [&] { return self(ctx).on_output_(stream, view(static_cast<const char*>(data), size)); });
  }
  static bh_status take_attachment(void* ctx, const bh_blob* blob) noexcept {
    return self(ctx).handle([&] { return self(ctx).on_attachment_(*blob); });
  }
  static void take_fault(void* ctx, bh_status code, const char* msg, size_t msg_size,
                         const char* details, size_t details_size) noexcept {
    (void)self(ctx).handle([&]() -> Status {
      self(ctx).fault_ =
          Failure(code, std::string(view(msg, msg_size)), std::string(view(details, details_size)));
      return {};
    });
  }

  std::string name_;
  std::string args_ = "{}";
  std::string input_;
  bool has_input_ = false;
  std::vector<const bh_blob*> blobs_;
  uint32_t flags_ = 0;
  uint64_t tag_ = 0;
  std::chrono::nanoseconds timeout_{0};
  OnText on_item_;
  OnOutput on_output_;
  OnAttachment on_attachment_;
  std::string result_;
  std::optional<Failure> fault_;  // what the host said
  std::optional<Failure> own_;    // what an on_… function said
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_OPERATIONS_HPP
