#include "core/call.h"

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "core/call_api.h"
#include "core/engine.h"
#include "core/run.h"

namespace bh {

Error stop_error(bh_status code) {
  if (code == BH_DEADLINE_EXCEEDED) {
    return fail(code, "the time limit of the call ran out; allow more with a longer timeout",
                "deadline")
        .value();
  }
  if (code == BH_CANCELLED) return fail(code, "the call was cancelled", "cancelled").value();
  return fail(code, "the receiver of the output stopped the call", "receiver").value();
}

Call::Call(Run& run, Sink& sink, Input& input)
    : run_(run), up_(nullptr), sink_(sink), input_(input), needs_(nullptr), tag_(0),
      cleanup_(false), depth_(0) {
  api = call_api();
  host = nullptr;
  run_.enter(*this);
}

Call::Call(Call& up, Sink& sink, Input& input, const CallOptions& options)
    : run_(up.run_), up_(&up), sink_(sink), input_(input), needs_(options.needs),
      tag_(options.tag), cleanup_(options.cleanup),
      depth_(up.depth_ + (options.operation ? 1 : 0)) {
  api = call_api();
  host = options.host;
  std::int64_t limit = options.timeout_ns > 0 ? options.timeout_ns : kNoLimit;
  if (cleanup_) limit = std::min(limit, kCleanupTime);
  if (limit != kNoLimit) {
    std::int64_t now = run_.clock();
    deadline_ = limit > kNoLimit - now ? kNoLimit : now + limit;
  }
  run_.enter(*this);
}

Call::~Call() { run_.leave(*this); }

Engine& Call::engine() const { return run_.engine(); }
const Session& Call::session() const { return run_.session(); }

Result<void> Call::set_result(std::string json) {
  std::lock_guard lock(mutex_);
  if (has_result_) {
    return fail(BH_INTERNAL, "a second result was given; a call has one", "plugin_misuse");
  }
  if (json.size() > kMaxResult) {
    return fail(BH_RESOURCE_EXHAUSTED,
                "the result is larger than 8 MiB; send items, output or attachments instead",
                "result_too_large");
  }
  has_result_ = true;
  result_ = std::move(json);
  return {};
}

bool Call::has_result() const {
  std::lock_guard lock(mutex_);
  return has_result_;
}

std::string Call::take_result() {
  std::lock_guard lock(mutex_);
  return has_result_ ? std::move(result_) : std::string("null");
}

bh_status Call::record(Error error) {
  std::lock_guard lock(mutex_);
  bh_status code = error.code;
  has_error_ = true;
  error_ = std::move(error);
  return code;
}

Result<void> Call::recorded() const {
  std::lock_guard lock(mutex_);
  if (!has_error_) return {};
  return tl::unexpected(error_);
}

Result<void> Call::outcome(bh_status returned, std::string_view who) {
  std::lock_guard lock(mutex_);
  if (returned == BH_OK) return {};
  if (has_error_ && error_.code == returned) return tl::unexpected(error_);
  if (returned == BH_CANCELLED || returned == BH_DEADLINE_EXCEEDED) {
    return tl::unexpected(stop_error(returned));
  }
  bh_status stop = stopped_.load();
  if (returned == stop) return tl::unexpected(stop_error(returned));
  const bool listed = returned >= BH_CANCELLED && returned <= BH_UNAUTHENTICATED;
  if (has_error_ && listed) {
    // It recorded one code and returned another: the text is still the best there is.
    Error mixed = error_;
    mixed.code = returned;
    return tl::unexpected(std::move(mixed));
  }
  if (!listed) {
    return fail(BH_INTERNAL,
                std::string(who) + " failed with " + std::to_string(returned) +
                    ", which is no code; that is a fault of the plugin" +
                    (has_error_ ? ": " + error_.message : std::string()),
                "plugin_misuse");
  }
  return fail(BH_INTERNAL,
              std::string(who) + " failed with code " + std::to_string(returned) +
                  " and gave no reason; that is a fault of the plugin",
              "plugin_misuse");
}

bh_status Call::stop_reason() const { return run_.stop_reason(*this); }

Result<void> Call::check() const {
  bh_status code = stop_reason();
  if (code == BH_OK) return {};
  return tl::unexpected(stop_error(code));
}

void Call::stop(bh_status code) {
  bh_status none = BH_OK;
  stopped_.compare_exchange_strong(none, code);
  run_.trip();
}

void Call::cancel_tagged(std::uint64_t tag) {
  if (tag != 0) run_.stop_tagged(*this, tag);
}

bh_status Call::wait(std::int64_t timeout_ns) { return run_.wait(*this, timeout_ns); }

bh_fd Call::cancel_fd() {
  bh_fd fd = cancel_fd_.get();
  run_.watch(*this);
  return fd;
}

std::int64_t Call::time_left_ns() const { return run_.time_left(*this); }

}  // namespace bh
