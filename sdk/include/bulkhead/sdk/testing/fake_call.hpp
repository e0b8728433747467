// bulkhead/sdk/testing/fake_call.hpp - a call without a host: records what the plugin answers,
// feeds it input and stops it where the test wants.
#ifndef BULKHEAD_SDK_TESTING_FAKE_CALL_HPP
#define BULKHEAD_SDK_TESTING_FAKE_CALL_HPP

#include <bulkhead/plugin.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../text.hpp"

namespace bulkhead::sdk::testing {

struct Attachment {
  std::string name, media_type, data;
};

// What came out of one call. `failed` tells whether fail() was used; the last record counts.
struct Recorded {
  std::string result;
  int results = 0;  // more than one is a bug of the plugin
  std::vector<std::string> items, events;
  std::map<int32_t, std::string> output;
  std::vector<Attachment> attachments;
  int emits = 0;
  bool input_ended = false;  // by the plugin
  bool failed = false;
  bh_status code = BH_OK;
  std::string message, details;
};

// Give raw() to the plugin, then look at recorded(). The plugin's side may be used from several
// threads, the test's side from one.
class FakeCall {
 public:
  explicit FakeCall(const bh_host* host) : raw_{{&api(), host}, this} {}
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;
  ~FakeCall() {
    ::close(stop_fd_);
    ::close(input_fd_);
  }

  bh_call* raw() { return &raw_.call; }
  static FakeCall& of(bh_call* call) { return *reinterpret_cast<Raw*>(call)->self; }
  Recorded recorded() const {
    std::lock_guard lock(m_);
    return got_;
  }
  std::string out() const { return recorded().output[BH_STREAM_STDOUT]; }
  std::string err() const { return recorded().output[BH_STREAM_STDERR]; }

  // All input is there from the start; it is handed out `chunk` bytes at a time.
  FakeCall& input(std::string bytes, size_t chunk = 65536) {
    return input_ = std::move(bytes), chunk_ = chunk, *this;
  }
  // The n-th emit() (1 is the first) is the last that is taken, and answers `code`.
  FakeCall& stop_at_emit(int n, bh_status code = BH_CANCELLED) {
    return stop_at_ = n, stop_at_code_ = code, *this;
  }
  FakeCall& time_left(std::chrono::nanoseconds t) { return time_left_ = t.count(), *this; }
  FakeCall& service(std::string id, const void* table) {
    return services_[std::move(id)] = table, *this;
  }
  // Wakes whatever waits.
  void stop(bh_status code = BH_CANCELLED) {
    {
      std::lock_guard lock(m_);
      if (stop_ == BH_OK) stop_ = code;
    }
    const uint64_t one = 1;
    (void)!::write(stop_fd_, &one, sizeof one);
    changed_.notify_all();
  }
  void* context = nullptr;  // for the services that a test hands out
  // Bytes that the plugin has not received yet.
  size_t input_left() const {
    std::lock_guard lock(m_);
    return input_.size() - input_at_;
  }

 private:
  struct Raw {
    bh_call call;
    FakeCall* self;
  };
  // `edit` on the record, unless the call has been stopped.
  template <class Edit>
  bh_status take(Edit edit) {
    std::lock_guard lock(m_);
    if (stop_ != BH_OK) return stop_;
    edit(got_);
    return BH_OK;
  }

  static bh_status fail(bh_call* c, bh_status code, const char* msg, size_t msg_size,
                        const char* details, size_t details_size) {
    FakeCall& me = of(c);
    std::lock_guard lock(me.m_);
    me.got_.failed = true;
    me.got_.code = code;
    me.got_.message = view(msg, msg_size);
    me.got_.details = view(details, details_size);
    return code;
  }
  static bh_status result(bh_call* c, const char* json, size_t size) {
    FakeCall& me = of(c);
    std::lock_guard lock(me.m_);
    me.got_.result = view(json, size);
    ++me.got_.results;
    return BH_OK;
  }
  static bh_status item(bh_call* c, const char* json, size_t size) {
    return of(c).take([&](Recorded& r) { r.items.emplace_back(view(json, size)); });
  }
  static bh_status emit(bh_call* c, int32_t stream, const void* data, size_t size) {
    FakeCall& me = of(c);
    bool last = false;
    const bh_status st = me.take([&](Recorded& r) {
      r.output[stream].append(view(static_cast<const char*>(data), size));
      last = ++r.emits == me.stop_at_;
    });
    if (!last) return st;
    me.stop(me.stop_at_code_);
    return me.stop_at_code_;
  }
  static bh_status attach(bh_call* c, const bh_blob* b) {
    return of(c).take([&](Recorded& r) {
      r.attachments.push_back({std::string(view(b->name)), std::string(view(b->media_type)),
                               std::string(view(static_cast<const char*>(b->data), b->size))});
    });
  }
  static void event(bh_call* c, const char* json, size_t size) {
    (void)of(c).take([&](Recorded& r) { r.events.emplace_back(view(json, size)); });
  }
  static bh_status receive(bh_call* c, void* buffer, size_t size, size_t* got) {
    FakeCall& me = of(c);
    return me.take([&](Recorded& r) {
      const size_t n =
          r.input_ended ? 0 : std::min({size, me.chunk_, me.input_.size() - me.input_at_});
      if (n != 0) std::memcpy(buffer, me.input_.data() + me.input_at_, n);
      me.input_at_ += n;
      *got = n;
    });
  }
  static bh_fd receive_fd(bh_call* c) { return of(c).input_fd_; }
  static void end_input(bh_call* c) {
    (void)of(c).take([](Recorded& r) { r.input_ended = true; });
  }
  static bh_status wait(bh_call* c, int64_t timeout_ns) {
    FakeCall& me = of(c);
    std::unique_lock lock(me.m_);
    if (timeout_ns > 0) {
      me.changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                           [&] { return me.stop_ != BH_OK; });
    }
    return me.stop_;
  }
  static bh_fd cancel_fd(bh_call* c) { return of(c).stop_fd_; }
  static int64_t time_left_ns(bh_call* c) { return of(c).time_left_; }
  static const void* get_service(bh_call* c, const char* id) {
    FakeCall& me = of(c);
    const auto it = me.services_.find(id);
    return it != me.services_.end() ? it->second : nullptr;
  }
  static const bh_call_api& api() {
    static const bh_call_api table = {sizeof(bh_call_api),
                                      BH_ABI_MINOR,
                                      &fail,
                                      &result,
                                      &item,
                                      &emit,
                                      &attach,
                                      &event,
                                      &receive,
                                      &receive_fd,
                                      &end_input,
                                      &wait,
                                      &cancel_fd,
                                      &time_left_ns,
                                      &get_service};
    return table;
  }

  Raw raw_;
  mutable std::mutex m_;
  std::condition_variable changed_;
  Recorded got_;
  std::string input_;
  size_t input_at_ = 0;
  size_t chunk_ = 65536;
  bh_status stop_ = BH_OK;
  int stop_at_ = 0;
  bh_status stop_at_code_ = BH_CANCELLED;
  int64_t time_left_ = INT64_MAX;
  int stop_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int input_fd_ = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);  // receive() never waits here
  std::map<std::string, const void*, std::less<>> services_;
};

}  // namespace bulkhead::sdk::testing

#endif  // BULKHEAD_SDK_TESTING_FAKE_CALL_HPP
