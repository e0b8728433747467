// What the engine needs of a host: to start operations, to stop them, and to hear of them. The
// embedder implements it over bulkhead/host.h; tests give it a host that they play themselves.
#pragma once

#include <bulkhead/host.hpp>
#include <cstdint>
#include <functional>
#include <string_view>

namespace bh::mcp {

using bulkhead::Fault;

// One thing that happened to the operation started with `tag`. Its texts are borrowed until the
// function that it is given to returns. `kind` is one of BH_EVENT_*; RESULT or FAULT comes last,
// once, also after a cancel.
struct HostEvent {
  int32_t kind = 0;
  uint64_t tag = 0;
  int32_t stream = 0;
  std::string_view name;
  std::string_view type;
  std::string_view data;
  Fault fault;

  bool last() const { return kind == BH_EVENT_RESULT || kind == BH_EVENT_FAULT; }
};

// Used from one thread. No function waits.
class HostPort {
 public:
  virtual ~HostPort() = default;
  // After a fault no event comes. `args` is a JSON object.
  virtual Fault start(uint64_t tag, std::string_view operation, std::string_view args) = 0;
  virtual void cancel(uint64_t tag) = 0;
  // Readable when take() has something. Only waited for.
  virtual int fd() const = 0;
  // Hands the next event over, if there is one: false where there is none.
  virtual bool take(const std::function<void(const HostEvent&)>& handle) = 0;
};

}  // namespace bh::mcp
