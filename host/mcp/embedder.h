// The host that the engine talks to, over bulkhead/host.h: one session, one queue, one run for each
// operation in progress.
#pragma once

#include <string_view>
#include <unordered_map>

#include "mcp/host_port.h"

namespace bh::mcp {

// Used from one thread. Keeps what it needs of the runtime. Destroyed, it cancels what still runs.
class Embedder : public HostPort {
 public:
  // `session_config`: {"persona":NAME} or {"operator":true}.
  static Fault open(const bulkhead::Runtime& runtime, std::string_view session_config,
                    Embedder& out);

  Fault start(uint64_t tag, std::string_view operation, std::string_view args) override;
  void cancel(uint64_t tag) override;
  int fd() const override { return static_cast<int>(queue_.fd()); }
  bool take(const std::function<void(const HostEvent&)>& handle) override;

 private:
  bulkhead::Session session_;
  bulkhead::Queue queue_;
  std::unordered_map<uint64_t, bulkhead::Run> runs_;  // after queue_: runs end before it does
};

}  // namespace bh::mcp
