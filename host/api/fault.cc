#include "api/handles.h"
#include "base/process_id.h"

namespace bh::api {

bh_status tell(bh_fault** out, Error error) noexcept {
  bh_status code = error.code;
  if (out == nullptr) return code;
  try {
    *out = std::make_unique<bh_fault>(bh_fault{std::move(error)}).release();
  } catch (...) {
    *out = nullptr;
    return BH_RESOURCE_EXHAUSTED;
  }
  return code;
}

bh_status missing(bh_fault** out, const char* what) noexcept {
  if (out != nullptr) *out = nullptr;
  try {
    return tell(out, bh::fail(BH_INVALID_ARGUMENT, std::string(what) + " is NULL", "null",
                              {{"field", what}})
                         .value());
  } catch (...) {
    return BH_INVALID_ARGUMENT;
  }
}

Result<void> same_runtime(const bh_session& s, const bh_queue& q) {
  if (s.engine == q.engine) return {};
  return fail(BH_INVALID_ARGUMENT, "the session and the queue belong to two runtimes",
              "two_runtimes", {{"field", "q"}});
}

Result<void> usable(const bh_request& r) {
  if (r.pid == bh::process_id()) return {};
  return fail(BH_FAILED_PRECONDITION,
              "this request was made before fork(); make another one in the child", "forked");
}

}  // namespace bh::api

namespace {

const char* text_of(const std::string& text, size_t* len) noexcept {
  if (len != nullptr) *len = text.size();
  return text.c_str();
}

const char* no_text(size_t* len) noexcept {
  if (len != nullptr) *len = 0;
  return "";
}

}  // namespace

extern "C" {

bh_status bh_fault_code(const bh_fault* f) noexcept { return f != nullptr ? f->error.code : BH_OK; }

const char* bh_fault_message(const bh_fault* f, size_t* len) noexcept {
  return f != nullptr ? text_of(f->error.message, len) : no_text(len);
}

const char* bh_fault_details(const bh_fault* f, size_t* len) noexcept {
  return f != nullptr ? text_of(f->error.details, len) : no_text(len);
}

void bh_fault_free(bh_fault* f) noexcept { std::unique_ptr<bh_fault> gone(f); }

}  // extern "C"
