// bulkhead/host.hpp - RAII over bulkhead/host.h, header-only C++17. See host.h for what each
// function does, its threads and its errors; the names are the same without the prefix.
#ifndef BH_HOST_HPP
#define BH_HOST_HPP

#include <bulkhead/host.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bulkhead {

// Why a call failed; empty (code() == BH_OK) where it did not. Owns its texts.
class Fault {
 public:
  Fault() = default;
  Fault(bh_status code, std::string message, std::string details = {})
      : code_(code), message_(std::move(message)), details_(std::move(details)) {}
  explicit Fault(const bh_fault* f) {
    if (f == nullptr) return;
    size_t n = 0;
    code_ = bh_fault_code(f);
    const char* text = bh_fault_message(f, &n);
    message_.assign(text != nullptr ? text : "", text != nullptr ? n : 0);
    text = bh_fault_details(f, &n);
    details_.assign(text != nullptr ? text : "", text != nullptr ? n : 0);
  }
  bh_status code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& details() const { return details_; }  // a JSON object or empty
  explicit operator bool() const { return code_ != BH_OK; }

 private:
  bh_status code_ = BH_OK;
  std::string message_;
  std::string details_;
};

// Of the library that is loaded, not of these headers: BH_HOST_VERSION is theirs.
inline uint32_t version() { return bh_version(); }
inline std::string_view version_text() { return bh_version_text(); }
inline uint32_t plugin_abi() { return bh_plugin_abi(); }

namespace detail {

template <class T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* p) const { Free(p); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Deleter<T, Free>>;

// Collects the bh_fault of one C call.
class FaultOut {
 public:
  FaultOut() = default;
  FaultOut(const FaultOut&) = delete;
  FaultOut& operator=(const FaultOut&) = delete;
  ~FaultOut() { bh_fault_free(raw_); }
  operator bh_fault**() { return &raw_; }
  Fault take(bh_status st) const {
    if (st == BH_OK) return {};
    return raw_ != nullptr ? Fault(raw_) : Fault(st, "the library gave no reason");
  }

 private:
  bh_fault* raw_ = nullptr;
};

}  // namespace detail

class Ask;

// One thing that happened. Its room returns to its run when it is destroyed.
class Event {
 public:
  Event() = default;
  explicit Event(bh_event* e) : h_(e) {}
  explicit operator bool() const { return h_ != nullptr; }
  int32_t kind() const { return bh_event_kind(h_.get()); }
  uint64_t tag() const { return bh_event_tag(h_.get()); }
  uint64_t id() const { return bh_event_id(h_.get()); }
  int64_t time_ns() const { return bh_event_time_ns(h_.get()); }
  int32_t stream() const { return bh_event_stream(h_.get()); }
  std::string_view name() const { return text(&bh_event_name); }
  std::string_view type() const { return text(&bh_event_type); }
  std::string_view data() const {
    size_t n = 0;
    const void* p = bh_event_data(h_.get(), &n);
    return p != nullptr ? std::string_view(static_cast<const char*>(p), n) : std::string_view();
  }
  Fault fault() const { return Fault(bh_event_fault(h_.get())); }
  bool last() const { return kind() == BH_EVENT_RESULT || kind() == BH_EVENT_FAULT; }
  bh_event* get() const { return h_.get(); }

 private:
  std::string_view text(const char* (*read)(const bh_event*, size_t*)) const {
    size_t n = 0;
    const char* p = read(h_.get(), &n);
    return p != nullptr ? std::string_view(p, n) : std::string_view();
  }
  detail::Handle<bh_event, bh_event_free> h_;
};

class Runtime {
 public:
  Runtime() = default;
  explicit Runtime(bh_runtime* raw) : h_(raw) {}  // owned from now on
  bh_runtime* release() { return h_.release(); }  // the caller's from now on
  static Fault make(std::string_view config, Runtime& out) {
    detail::FaultOut f;
    bh_runtime* raw = nullptr;
    bh_status st = bh_runtime_new(config.data(), config.size(), &raw, f);
    out.h_.reset(raw);
    return f.take(st);
  }
  Fault close(int32_t timeout_ms) {
    detail::FaultOut f;
    return f.take(bh_runtime_close(h_.get(), timeout_ms, f));
  }
  bh_runtime* get() const { return h_.get(); }
  explicit operator bool() const { return h_ != nullptr; }

 private:
  detail::Handle<bh_runtime, bh_runtime_free> h_;
};

class Session {
 public:
  Session() = default;
  explicit Session(bh_session* raw) : h_(raw) {}
  static Fault make(const Runtime& rt, std::string_view config, Session& out) {
    detail::FaultOut f;
    bh_session* raw = nullptr;
    bh_status st = bh_session_new(rt.get(), config.data(), config.size(), &raw, f);
    out.h_.reset(raw);
    return f.take(st);
  }
  bh_session* get() const { return h_.get(); }
  explicit operator bool() const { return h_ != nullptr; }

 private:
  detail::Handle<bh_session, bh_session_free> h_;
};

class Queue {
 public:
  Queue() = default;
  static Fault make(const Runtime& rt, Queue& out) {
    detail::FaultOut f;
    bh_queue* raw = nullptr;
    bh_status st = bh_queue_new(rt.get(), &raw, f);
    out.h_.reset(raw);
    return f.take(st);
  }
  // The next event, or an empty one after timeout_ms (< 0: no limit) or wake().
  Fault next(int32_t timeout_ms, Event& out) {
    detail::FaultOut f;
    bh_event* raw = nullptr;
    bh_status st = bh_queue_next(h_.get(), timeout_ms, &raw, f);
    out = Event(raw);
    return f.take(st);
  }
  bh_fd fd() const { return bh_queue_fd(h_.get()); }
  void wake() { bh_queue_wake(h_.get()); }
  bh_queue* get() const { return h_.get(); }
  explicit operator bool() const { return h_ != nullptr; }

 private:
  detail::Handle<bh_queue, bh_queue_free> h_;
};

class Request {
 public:
  Request() = default;
  static Fault make(std::string_view operation, std::string_view args, Request& out) {
    detail::FaultOut f;
    bh_request* raw = nullptr;
    bh_status st = bh_request_new(operation.data(), operation.size(), &raw, f);
    out.h_.reset(raw);
    if (st == BH_OK) st = bh_request_args(raw, args.data(), args.size(), f);
    return f.take(st);
  }
  Fault args(std::string_view json) {  // replaces the earlier ones
    detail::FaultOut f;
    return f.take(bh_request_args(h_.get(), json.data(), json.size(), f));
  }
  Fault attach(std::string_view name, std::string_view type, const void* data, size_t size) {
    detail::FaultOut f;
    return f.take(bh_request_attach(h_.get(), name.data(), name.size(), type.data(), type.size(),
                                    data, size, f));
  }
  Fault timeout(int64_t ms) {
    detail::FaultOut f;
    return f.take(bh_request_timeout(h_.get(), ms, f));
  }
  Fault input() {
    detail::FaultOut f;
    return f.take(bh_request_input(h_.get(), f));
  }
  bh_request* get() const { return h_.get(); }

 private:
  detail::Handle<bh_request, bh_request_free> h_;
};

class Run {
 public:
  Run() = default;
  static Fault start(const Session& s, const Request& r, const Queue& q, uint64_t tag, Run& out) {
    detail::FaultOut f;
    bh_run* raw = nullptr;
    bh_status st = bh_start(s.get(), r.get(), q.get(), tag, &raw, f);
    out.h_.reset(raw);
    return f.take(st);
  }
  Fault send(const void* data, size_t size, size_t& taken) {
    detail::FaultOut f;
    return f.take(bh_run_send(h_.get(), data, size, &taken, f));
  }
  Fault send_end() {
    detail::FaultOut f;
    return f.take(bh_run_send_end(h_.get(), f));
  }
  void cancel() { bh_run_cancel(h_.get()); }
  bh_run* get() const { return h_.get(); }
  explicit operator bool() const { return h_ != nullptr; }

 private:
  detail::Handle<bh_run, bh_run_free> h_;
};

// Runs one operation on the calling thread (bh_do); its events wait in `q`.
inline Fault do_now(const Session& s, const Request& r, const Queue& q, uint64_t tag) {
  detail::FaultOut f;
  return f.take(bh_do(s.get(), r.get(), q.get(), tag, f));
}

// One question that the embedder has to answer; unanswered when destroyed: BH_UNAVAILABLE.
class Ask {
 public:
  Ask() = default;
  explicit Ask(const Event& e) : h_(bh_event_ask(e.get())) {}
  explicit operator bool() const { return h_ != nullptr; }
  uint64_t id() const { return bh_ask_id(h_.get()); }
  Fault emit(int32_t stream, const void* data, size_t size, size_t& taken) {
    detail::FaultOut f;
    return f.take(bh_ask_emit(h_.get(), stream, data, size, &taken, f));
  }
  Fault attach(std::string_view name, std::string_view type, const void* data, size_t size) {
    detail::FaultOut f;
    return f.take(
        bh_ask_attach(h_.get(), name.data(), name.size(), type.data(), type.size(), data, size, f));
  }
  Fault result(std::string_view json) {
    detail::FaultOut f;
    return f.take(bh_ask_result(h_.get(), json.data(), json.size(), f));
  }
  Fault fail(bh_status code, std::string_view message, std::string_view details = {}) {
    detail::FaultOut f;
    return f.take(bh_ask_fail(h_.get(), code, message.data(), message.size(), details.data(),
                              details.size(), f));
  }
  Fault session(Session& out) {
    detail::FaultOut f;
    bh_session* raw = nullptr;
    bh_status st = bh_ask_session(h_.get(), &raw, f);
    out = Session(raw);
    return f.take(st);
  }

 private:
  detail::Handle<bh_ask, bh_ask_free> h_;
};

// The embedder answers something (bh_serve) until this is destroyed.
class Server {
 public:
  Server() = default;
  static Fault serve(const Session& s, std::string_view what, const Queue& q, uint64_t tag,
                     Server& out) {
    detail::FaultOut f;
    bh_server* raw = nullptr;
    bh_status st = bh_serve(s.get(), what.data(), what.size(), q.get(), tag, &raw, f);
    out.h_.reset(raw);
    return f.take(st);
  }

 private:
  detail::Handle<bh_server, bh_server_free> h_;
};

}  // namespace bulkhead

#endif  // BH_HOST_HPP
