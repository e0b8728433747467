// One thing that happened, on its way to the embedder.
#pragma once

#include <bulkhead/host.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"

namespace bh {

class Run;
class Question;

// Owned by the queue, then by whoever took it. Its room goes back to its run (or question) when it
// is destroyed, not when it is taken: who holds events slows down that run alone.
struct Event {
  int kind = 0;
  std::uint64_t tag = 0;
  std::uint64_t id = 0;
  std::int64_t time_ns = 0;
  int stream = 0;
  std::string name;
  std::string type;
  std::string data;
  Error fault;
  std::shared_ptr<Question> question;  // BH_EVENT_ASK: until the embedder takes it

  std::shared_ptr<Run> run;
  std::size_t cost = 0;

  Event(int event_kind, std::uint64_t event_tag);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
};

}  // namespace bh
