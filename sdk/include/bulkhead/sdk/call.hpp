// bulkhead/sdk/call.hpp - one call into the plugin: where its answers go, its input, its clock.
#ifndef BULKHEAD_SDK_CALL_HPP
#define BULKHEAD_SDK_CALL_HPP

#include <bulkhead/plugin.h>

#include <chrono>
#include <string_view>

#include "host.hpp"
#include "result.hpp"

namespace bulkhead::sdk {

// The blobs that came beside a call's JSON: a view, valid during the call.
class Blobs {
 public:
  Blobs() = default;
  Blobs(const bh_blob* const* items, size_t count) : items_(items), count_(count) {}
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const bh_blob& operator[](size_t i) const { return *items_[i]; }
  // The one with that name, or null.
  const bh_blob* find(std::string_view name) const {
    for (size_t i = 0; i < count_; ++i) {
      if (view(items_[i]->name) == name) return items_[i];
    }
    return nullptr;
  }
  const bh_blob* const* raw() const { return items_; }

 private:
  const bh_blob* const* items_ = nullptr;
  size_t count_ = 0;
};

inline std::string_view bytes(const bh_blob& b) {
  return view(static_cast<const char*>(b.data), b.size);
}

// A view of bh_call: valid until the plugin's function returns, so threads that use it are joined
// before. Everything but receive() is [any]. Where a Status is not ok, take no more output, clean
// up and return it.
class Call {
 public:
  explicit Call(bh_call* raw) : raw_(raw) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // ---- answers

  // The final JSON value, at most once. Followed by a failure it becomes the fault's "partial".
  Status result(std::string_view json) {
    return Status::from(api().result(raw_, json.data(), json.size()));
  }
  // One element of a list or a watch. [blocking]
  Status item(std::string_view json) {
    return Status::from(api().item(raw_, json.data(), json.size()));
  }
  // Output as it appears; waits while the reader is slow. [blocking]
  Status emit(int32_t stream, std::string_view data) {
    return Status::from(api().emit(raw_, stream, data.data(), data.size()));
  }
  // A whole binary result. [blocking]
  Status attach(std::string_view name, std::string_view media_type, std::string_view data) {
    bh_blob blob{};
    blob.struct_size = sizeof blob;
    blob.name = str(name);
    blob.media_type = str(media_type);
    blob.data = data.data();
    blob.size = data.size();
    return Status::from(api().attach(raw_, &blob));
  }
  // Progress, as JSON; may be dropped under load.
  void event(std::string_view json) { api().event(raw_, json.data(), json.size()); }
  // Records why the call fails and gives the Status to return. Returning a Failure does the same;
  // this is for a reason that is known where no Status can be returned from.
  Status fail(bh_status code, std::string_view message, std::string_view details = {}) {
    return Status::from(
        api().fail(raw_, code, message.data(), message.size(), details.data(), details.size()));
  }

  // ---- input

  // Waits for the next bytes; 0: the input has ended. [serial] [blocking]
  Result<size_t> receive(void* buffer, size_t size) {
    size_t got = 0;
    const bh_status st = api().receive(raw_, buffer, size, &got);
    if (st != BH_OK) return Failure(st);
    return got;
  }
  // Readable when receive() would not wait.
  bh_fd receive_fd() { return api().receive_fd(raw_); }
  // Nobody will read the rest: the sender is told.
  void end_input() { api().end_input(raw_); }

  // ---- clock and cancel: return within 2 s of the first Status that is not ok

  // Sleeps, less when there is a reason to stop. [blocking]
  Status wait(std::chrono::nanoseconds timeout) {
    return Status::from(api().wait(raw_, timeout.count()));
  }
  // BH_CANCELLED or BH_DEADLINE_EXCEEDED when it is time to stop.
  Status stopped() { return wait(std::chrono::nanoseconds(0)); }
  bool cancelled() { return !stopped().ok(); }
  // Readable once stopped() is not ok; belongs in every poll set.
  bh_fd cancel_fd() { return api().cancel_fd(raw_); }
  // nanoseconds::max(): no limit. It may grow: ask again after each wait.
  std::chrono::nanoseconds time_left() {
    return std::chrono::nanoseconds(api().time_left_ns(raw_));
  }

  // ---- the rest

  Host host() const { return Host(raw_->host); }
  void log(int32_t level, std::string_view message, std::string_view fields = {}) {
    host().log(level, message, fields, raw_);
  }
  // A table that belongs to this call, or null where this plugin may not have it.
  template <class Table>
  const Table* service(const char* id) {
    return static_cast<const Table*>(api().get_service(raw_, id));
  }
  bh_call* raw() { return raw_; }

 private:
  const bh_call_api& api() const { return *raw_->api; }
  bh_call* raw_;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_CALL_HPP
