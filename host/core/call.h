// One call: an operation in progress, or one function of a plugin that runs on its behalf. Calls
// form a chain from the innermost up to their run; each has its own reasons to stop besides those
// of all above it. What a plugin sees as bh_call is this.
//
// Made and destroyed by the thread that makes the call. While it lives, every function is [any]
// unless tagged.
#pragma once

#include <bulkhead/plugin.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/clock.h"
#include "core/input.h"
#include "core/ready_fd.h"
#include "core/sink.h"

namespace bh {

class Run;
class Engine;
struct Session;

inline constexpr int kMaxDepth = 16;
inline constexpr std::size_t kMaxResult = 8u << 20;
inline constexpr std::size_t kMaxAttachment = 64u << 20;
inline constexpr std::int64_t kCleanupTime = 2 * kSecond;

// What a call may do and how long, beyond what it inherits.
struct CallOptions {
  const bh_host* host = nullptr;            // the callee's view of the host; null inside the host
  const std::set<std::string>* needs = nullptr;  // operations it may run; null: none
  std::int64_t timeout_ns = 0;              // 0: only what the call above has left
  std::uint64_t tag = 0;                    // names it for cancel_tagged()
  bool cleanup = false;                     // runs although the call above was stopped
  bool operation = false;                   // a nested operation: one step deeper
};

class Call : public bh_call {
 public:
  // The outermost call of a run.
  Call(Run& run, Sink& sink, Input& input);
  // A call below `up`.
  Call(Call& up, Sink& sink, Input& input, const CallOptions& options = {});
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  Run& run() const { return run_; }
  Engine& engine() const;
  const Session& session() const;
  Call* up() const { return up_; }
  // How many operations it is nested in.
  int depth() const { return depth_; }
  Sink& sink() const { return sink_; }
  Input& input() const { return input_; }
  const std::set<std::string>* needs() const { return needs_; }

  // --- answers
  bh_status item(std::string_view json) { return sink_.item(*this, json); }
  bh_status emit(int stream, std::string_view bytes) { return sink_.emit(*this, stream, bytes); }
  bh_status attach(const BlobView& blob) { return sink_.attach(*this, blob); }
  void event(std::string_view json) { sink_.event(*this, json); }

  // The final JSON value. INTERNAL when there was one already, RESOURCE_EXHAUSTED above 8 MiB.
  Result<void> set_result(std::string json);
  bool has_result() const;
  std::string take_result();
  // The last record counts. Returns error.code.
  bh_status record(Error error);
  // What was recorded, as an error; OK where nothing was.
  Result<void> recorded() const;
  // What a plugin's function came to, given the code that it returned: the recorded error, or one
  // that says how it broke the rules. `who` names the plugin in that case.
  Result<void> outcome(bh_status returned, std::string_view who);

  // --- reasons to stop
  // BH_OK, BH_CANCELLED or BH_DEADLINE_EXCEEDED, or what a sink said.
  bh_status stop_reason() const;
  // The same as an error with a sentence.
  Result<void> check() const;
  // Ends this call and those below it, now. Its other waits return `code`.
  void stop(bh_status code);
  // Stops the calls directly below that carry the tag.
  void cancel_tagged(std::uint64_t tag);
  // Sleeps for timeout_ns, less when there is a reason to stop. [blocking]
  bh_status wait(std::int64_t timeout_ns);
  bh_fd cancel_fd();
  std::int64_t time_left_ns() const;

 private:
  friend class Run;

  Run& run_;
  Call* const up_;
  Sink& sink_;
  Input& input_;
  const std::set<std::string>* const needs_;
  const std::uint64_t tag_;
  const bool cleanup_;
  const int depth_;
  std::int64_t deadline_ = kNoLimit;  // on the run's clock
  std::atomic<bh_status> stopped_{BH_OK};
  ReadyFd cancel_fd_;

  mutable std::mutex mutex_;  // guards the four below
  bool has_error_ = false;
  Error error_;
  bool has_result_ = false;
  std::string result_;
};

// The standard sentence for BH_CANCELLED or BH_DEADLINE_EXCEEDED.
Error stop_error(bh_status code);

}  // namespace bh
