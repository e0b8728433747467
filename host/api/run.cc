// bh_request_*, bh_start, bh_do and bh_run_*: operations, from arguments to input.
#include "api/handles.h"
#include "base/process_id.h"
#include "base/utf8.h"
#include "operations/catalogue.h"

#include <utility>

namespace {

using bh::api::absent;
using bh::api::guarded;
using bh::api::missing;
using bh::api::view;

// Runs started earlier share the body; a change makes a copy of its own.
bh::RequestBody& own_body(bh_request& r) {
  if (r.body.use_count() > 1) r.body = std::make_shared<bh::RequestBody>(*r.body);
  return *r.body;
}

bh::Result<bh::RunOptions> options_for(const bh_request& r, const bh_queue& q, uint64_t tag) {
  bh::RunOptions options;
  options.queue = q.queue;
  options.tag = tag;
  options.timeout_ns = r.timeout_ms > 0 ? r.timeout_ms * 1'000'000 : 0;
  options.takes_input = r.takes_input;
  return options;
}

}  // namespace

extern "C" {

bh_status bh_request_new(const char* operation, size_t operation_len, bh_request** out,
                         bh_fault** f) noexcept {
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  if (operation == nullptr) return missing(f, "operation");
  return guarded(f, [&]() -> bh::Result<void> {
    const bh::Catalogue& all = bh::catalogue();
    const auto* entry = all.find(view(operation, operation_len));
    if (entry == nullptr) {
      return tl::unexpected(bh::unknown_operation(all, bh::utf8::repair(view(operation, operation_len))));
    }
    auto made = std::make_unique<bh_request>();
    made->entry = entry;
    made->body = std::make_shared<bh::RequestBody>();
    made->pid = bh::process_id();
    *out = made.release();
    return {};
  });
}

bh_status bh_request_args(bh_request* r, const char* json, size_t json_len, bh_fault** f) noexcept {
  if (r == nullptr) return missing(f, "r");
  if (absent(json, json_len)) return missing(f, "json");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(bh::api::usable(*r));
    auto args = bh::checked_arguments(*r->entry, view(json, json_len));
    if (!args) return tl::unexpected(std::move(args).error());
    own_body(*r).args = std::move(*args);
    return {};
  });
}

bh_status bh_request_attach(bh_request* r, const char* name, size_t name_len, const char* type,
                            size_t type_len, const void* data, size_t size, bh_fault** f) noexcept {
  if (r == nullptr) return missing(f, "r");
  if (absent(name, name_len)) return missing(f, "name");
  if (absent(type, type_len)) return missing(f, "type");
  if (absent(data, size)) return missing(f, "data");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(bh::api::usable(*r));
    if (size > bh::kMaxAttachment) {
      return bh::fail(BH_RESOURCE_EXHAUSTED,
                      "an attachment above 64 MiB was given; send it as input instead "
                      "(bh_request_input, bh_run_send)",
                      "attachment_too_large", {{"field", "data"}});
    }
    if (!bh::utf8::valid(view(name, name_len)) || !bh::utf8::valid(view(type, type_len))) {
      return bh::fail(BH_INVALID_ARGUMENT, "the attachment's name or type is not UTF-8", "utf8",
                      {{"field", "name"}});
    }
    own_body(*r).blobs.push_back({std::string(view(name, name_len)),
                                  std::string(view(type, type_len)),
                                  std::string(view(data, size))});
    return {};
  });
}

bh_status bh_request_timeout(bh_request* r, int64_t timeout_ms, bh_fault** f) noexcept {
  if (r == nullptr) return missing(f, "r");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(bh::api::usable(*r));
    if (timeout_ms < 0 || timeout_ms > INT64_MAX / 1'000'000) {
      return bh::fail(BH_INVALID_ARGUMENT,
                      "a time limit is 0 (none) to 9223372036854 milliseconds", "timeout",
                      {{"field", "timeout_ms"}});
    }
    r->timeout_ms = timeout_ms;
    return {};
  });
}

bh_status bh_request_input(bh_request* r, bh_fault** f) noexcept {
  if (r == nullptr) return missing(f, "r");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(bh::api::usable(*r));
    if (r->entry->spec.input.empty()) {
      return bh::fail(BH_INVALID_ARGUMENT, r->entry->spec.name + " takes no input", "no_input");
    }
    r->takes_input = true;
    return {};
  });
}

void bh_request_free(bh_request* r) noexcept { std::unique_ptr<bh_request> gone(r); }

bh_status bh_start(bh_session* s, const bh_request* r, bh_queue* q, uint64_t tag, bh_run** out,
                   bh_fault** f) noexcept {
  if (out != nullptr) *out = nullptr;
  if (s == nullptr) return missing(f, "s");
  if (r == nullptr) return missing(f, "r");
  if (q == nullptr) return missing(f, "q");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(s->engine->usable());
    BH_TRY(bh::api::same_runtime(*s, *q));
    // Checked again here because arguments may never have been set.
    if (r->body->args.empty()) BH_TRY(bh::checked_arguments(*r->entry, "{}"));
    auto options = options_for(*r, *q, tag);
    std::unique_ptr<bh_run> made = out != nullptr ? std::make_unique<bh_run>() : nullptr;
    auto run = s->engine->start(s->session, *r->entry, r->body, std::move(*options));
    if (!run) return tl::unexpected(std::move(run).error());
    if (made) {
      made->run = std::move(*run);
      *out = made.release();
    }
    return {};
  });
}

bh_status bh_do(bh_session* s, const bh_request* r, bh_queue* q, uint64_t tag,
                bh_fault** f) noexcept {
  if (s == nullptr) return missing(f, "s");
  if (r == nullptr) return missing(f, "r");
  if (q == nullptr) return missing(f, "q");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(s->engine->usable());
    BH_TRY(bh::api::same_runtime(*s, *q));
    if (r->takes_input) {
      return bh::fail(BH_INVALID_ARGUMENT,
                      "a run that takes input needs bh_start(): nobody could send it meanwhile",
                      "needs_start");
    }
    if (r->body->args.empty()) BH_TRY(bh::checked_arguments(*r->entry, "{}"));
    auto options = options_for(*r, *q, tag);
    return s->engine->run_here(s->session, *r->entry, r->body, std::move(*options));
  });
}

bh_status bh_run_send(bh_run* run, const void* data, size_t size, size_t* taken,
                      bh_fault** f) noexcept {
  if (taken != nullptr) *taken = 0;
  if (run == nullptr) return missing(f, "run");
  if (taken == nullptr) return missing(f, "taken");
  if (data == nullptr && size > 0) return missing(f, "data");
  return guarded(f, [&]() -> bh::Result<void> {
    if (run->run->engine().forked()) return run->run->engine().usable();
    auto sent = run->run->send(view(data, size));
    if (!sent) return tl::unexpected(std::move(sent).error());
    *taken = *sent;
    return {};
  });
}

bh_status bh_run_send_end(bh_run* run, bh_fault** f) noexcept {
  if (run == nullptr) return missing(f, "run");
  return guarded(f, [&]() -> bh::Result<void> {
    if (run->run->engine().forked()) return run->run->engine().usable();
    return run->run->send_end();
  });
}

void bh_run_cancel(bh_run* run) noexcept {
  if (run == nullptr || run->run->engine().forked()) return;
  try {
    run->run->cancel();
  } catch (const std::exception&) {
    // Only the timer's memory can be missing; the run is cancelled all the same.
  }
}

void bh_run_free(bh_run* run) noexcept {
  if (run == nullptr) return;
  std::unique_ptr<bh_run> gone(run);
  if (gone->run->engine().forked()) {
    (void)gone.release();
    return;
  }
  if (!gone->run->finished()) bh_run_cancel(gone.get());
}

}  // extern "C"
