// What the opaque handles of host.h hold, and how errors leave through them. The only place where a
// bh::Error becomes a bh_fault.
#pragma once

#include <bulkhead/host.h>
#include <sys/types.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/engine.h"
#include "core/question.h"
#include "core/queue.h"
#include "core/run.h"

struct bh_fault {
  bh::Error error;
};

struct bh_runtime {
  std::shared_ptr<bh::Engine> engine;
};

struct bh_session {
  std::shared_ptr<bh::Engine> engine;
  std::shared_ptr<const bh::Session> session;
};

struct bh_queue {
  std::shared_ptr<bh::Engine> engine;
  std::shared_ptr<bh::EventQueue> queue;
};

struct bh_request {
  const bh::Catalogue::Entry* entry = nullptr;
  std::shared_ptr<bh::RequestBody> body;  // copied when it is changed after a start
  std::int64_t timeout_ms = 0;
  bool takes_input = false;
  pid_t pid = 0;  // whose it is
};

struct bh_run {
  std::shared_ptr<bh::Run> run;
};

struct bh_event {
  std::unique_ptr<bh::Event> event;
  bh_fault fault;
};

struct bh_server {
  std::shared_ptr<bh::Engine> engine;
  std::shared_ptr<bh::Server> server;
};

struct bh_ask {
  std::shared_ptr<bh::Question> question;
};

namespace bh::api {

// FAILED_PRECONDITION in the child of a fork: a request belongs to no runtime that could say it.
Result<void> usable(const bh_request& r);

// Fills *out where there is one; returns the code.
bh_status tell(bh_fault** out, Error error) noexcept;

// A session and a queue of two runtimes cannot be used together.
Result<void> same_runtime(const bh_session& s, const bh_queue& q);

// NULL where something is needed.
bh_status missing(bh_fault** out, const char* what) noexcept;

// NULL is the empty text with the length 0 and nothing else.
inline bool absent(const void* data, std::size_t size) { return data == nullptr && size > 0; }

inline std::string_view view(const void* data, std::size_t size) {
  return data != nullptr ? std::string_view(static_cast<const char*>(data), size)
                         : std::string_view();
}

// Runs `body`, which returns Result<void>, so that nothing unwinds into C.
template <class Body>
bh_status guarded(bh_fault** out, Body body) noexcept {
  if (out != nullptr) *out = nullptr;
  try {
    Result<void> done = body();
    return done ? BH_OK : tell(out, std::move(done).error());
  } catch (const std::bad_alloc&) {
    return tell(out, Error{BH_RESOURCE_EXHAUSTED, "there is not enough memory for this call",
                           "{\"reason\":\"memory\"}"});
  } catch (const std::exception& e) {
    return tell(out, Error{BH_INTERNAL, std::string("a bug in the host: ") + e.what(),
                           "{\"reason\":\"exception\"}"});
  } catch (...) {
    return tell(out, Error{BH_INTERNAL, "a bug in the host", "{\"reason\":\"exception\"}"});
  }
}

}  // namespace bh::api
