#include "mcp/embedder.h"

namespace bh::mcp {

Fault Embedder::open(const bulkhead::Runtime& runtime, std::string_view session_config,
                     Embedder& out) {
  if (Fault fault = bulkhead::Session::make(runtime, session_config, out.session_)) return fault;
  if (Fault fault = bulkhead::Queue::make(runtime, out.queue_)) return fault;
  // Without one nothing would ever say that an answer is there.
  if (out.queue_.fd() >= 0) return {};
  return Fault(BH_RESOURCE_EXHAUSTED,
               "no file descriptor is left for the queue; close some, or raise the limit of open "
               "files",
               R"({"reason":"descriptors"})");
}

Fault Embedder::start(uint64_t tag, std::string_view operation, std::string_view args) {
  bulkhead::Request request;
  if (Fault fault = bulkhead::Request::make(operation, args, request)) return fault;
  bulkhead::Run run;
  if (Fault fault = bulkhead::Run::start(session_, request, queue_, tag, run)) return fault;
  runs_.emplace(tag, std::move(run));
  return {};
}

void Embedder::cancel(uint64_t tag) {
  auto run = runs_.find(tag);
  if (run != runs_.end()) run->second.cancel();
}

bool Embedder::take(const std::function<void(const HostEvent&)>& handle) {
  bulkhead::Event event;
  if (Fault fault = queue_.next(0, event)) {
    // The queue gives no more: whatever ran has lost its answer, and is told so.
    if (runs_.empty()) return false;
    HostEvent lost;
    lost.kind = BH_EVENT_FAULT;
    lost.tag = runs_.begin()->first;
    lost.fault = fault;
    runs_.erase(runs_.begin());
    handle(lost);
    return true;
  }
  if (!event) return false;
  HostEvent seen;
  seen.kind = event.kind();
  seen.tag = event.tag();
  seen.stream = event.stream();
  seen.name = event.name();
  seen.type = event.type();
  seen.data = event.data();
  if (seen.kind == BH_EVENT_FAULT) seen.fault = event.fault();
  if (seen.last()) runs_.erase(seen.tag);
  handle(seen);
  return true;
}

}  // namespace bh::mcp
