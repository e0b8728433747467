// An engine with operations of the test's own, and what is needed to look at their events from the
// main thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/engine.h"

namespace bh_test {

using bh::BlobView;
using bh::Call;
using bh::Error;
using bh::Event;
using bh::Result;
using bh::Run;

inline constexpr int kPatience = 20'000;  // ms; a test that waits so long has failed

// Everything that one run came to.
struct Outcome {
  int last = 0;  // BH_EVENT_RESULT, BH_EVENT_FAULT, or 0: it did not end in time
  std::string result;
  Error fault;
  std::vector<std::string> items;
  std::vector<std::pair<int, std::string>> output;
  std::vector<std::string> progress;
  std::vector<std::string> attachments;
  int rooms = 0;

  std::string text() const {
    std::string all;
    for (const auto& piece : output) all += piece.second;
    return all;
  }
  std::string reason() const { return detail("reason"); }
  std::string detail(std::string_view key) const {
    auto o = bh::json::parse_object(fault.details);
    return o ? std::string(bh::json::get_string(*o, key)) : std::string();
  }
};

inline bool readable(int fd, int timeout_ms = 0) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN) != 0;
}

class EngineHost {
 public:
  explicit EngineHost(std::size_t workers = 8)
      : engine(std::make_shared<bh::Engine>(catalogue, workers)),
        queue(std::make_shared<bh::EventQueue>()) {}
  ~EngineHost() {
    queue->close();
    (void)engine->close(std::chrono::seconds(10));
  }
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  using Body = std::function<Result<void>(Call&)>;
  void add(const std::string& name, Body body, bh::Lane lane = bh::Lane::kWork) {
    bh::OperationSpec spec;
    spec.name = name;
    spec.args_schema =
        R"({"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}}})";
    spec.lane = lane;
    spec.run = [body = std::move(body)](Call& call, const bh::Arguments&) { return body(call); };
    catalogue.add(std::move(spec));
  }

  bh::RunOptions options(std::uint64_t tag = 1, std::int64_t timeout_ms = 0) const {
    bh::RunOptions out;
    out.queue = queue;
    out.tag = tag;
    out.timeout_ns = timeout_ms * 1'000'000;
    return out;
  }

  Result<std::shared_ptr<Run>> try_start(const std::string& name, bh::RunOptions how) {
    return engine->start(session, *catalogue.find(name), std::make_shared<bh::RequestBody>(),
                         std::move(how));
  }
  std::shared_ptr<Run> start(const std::string& name, bh::RunOptions how) {
    auto run = try_start(name, std::move(how));
    return run ? *run : nullptr;
  }
  std::shared_ptr<Run> start(const std::string& name) { return start(name, options()); }

  // Takes events until the run with the tag has ended; those of others are kept in `strangers`.
  Outcome finish(std::uint64_t tag = 1, int timeout_ms = kPatience) {
    Outcome out;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (out.last == 0) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return out;
      auto event = queue->next(static_cast<int>(left.count()));
      if (!event) continue;
      if (event->tag != tag) {
        strangers.push_back(std::move(event));
        continue;
      }
      note(*event, out);
    }
    return out;
  }
  Outcome run(const std::string& name, bh::RunOptions how) {
    const std::uint64_t tag = how.tag;
    return start(name, std::move(how)) ? finish(tag) : Outcome{};
  }
  Outcome run(const std::string& name) { return run(name, options()); }

  static void note(const Event& event, Outcome& out) {
    switch (event.kind) {
      case BH_EVENT_OUTPUT:
        out.output.emplace_back(event.stream, event.data);
        break;
      case BH_EVENT_PROGRESS:
        out.progress.push_back(event.data);
        break;
      case BH_EVENT_ATTACHMENT:
        out.attachments.push_back(event.name + "|" + event.type + "|" + event.data);
        break;
      case BH_EVENT_ITEM:
        out.items.push_back(event.data);
        break;
      case BH_EVENT_ROOM:
        out.rooms++;
        break;
      case BH_EVENT_RESULT:
        out.result = event.data;
        out.last = event.kind;
        break;
      case BH_EVENT_FAULT:
        out.fault = event.fault;
        out.last = event.kind;
        break;
      default:
        break;
    }
  }

  bh::Catalogue catalogue;
  std::shared_ptr<bh::Engine> engine;
  std::shared_ptr<bh::EventQueue> queue;
  std::shared_ptr<const bh::Session> session = std::make_shared<bh::Session>();
  std::vector<std::unique_ptr<Event>> strangers;
};

// A gate that one thread opens and others wait at.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait(int timeout_ms = kPatience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace bh_test
