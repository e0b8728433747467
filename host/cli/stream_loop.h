// Carries one run from its start to its end on one thread: input, output, signals, progress. Holds
// one event and one piece of input at a time, so gigabytes pass in bounded memory: while nobody
// reads our stdout, the run waits.
#pragma once

#include <bulkhead/host.hpp>
#include <optional>
#include <string>

#include "cli/inlet.h"
#include "cli/outlet.h"
#include "cli/progress.h"
#include "cli/signals.h"

namespace bh::cli {

// What a verb makes of its run's events. Called on the loop's thread.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Which fd the bytes of a stream go to: 1, 2, or 0 to drop them.
  virtual int route(std::int32_t stream) = 0;
  virtual void item(const bulkhead::Event&) {}
  virtual void attachment(const bulkhead::Event&) {}
  // Bytes of one that comes in pieces; without bytes, its end.
  virtual void attachment_bytes(const bulkhead::Event&) {}
  // SIGINT and its like. Returns whether the run has to be cancelled.
  virtual bool signal(int number) = 0;
};

class StreamLoop {
 public:
  static constexpr std::uint64_t kTag = 1;  // of the run; other tags' events are dropped

  struct Ending {
    std::optional<std::string> result;  // of the run, JSON
    bulkhead::Fault fault;              // set where there is no result
    bool reader_gone = false;           // of stdout or stderr
    int write_error = 0;                // errno, where writing failed otherwise
    bool cancelled = false;             // by us
  };

  // All are the caller's and outlive the loop.
  StreamLoop(bulkhead::Queue& queue, bulkhead::Run& run, Signals& signals, Progress& progress,
             StreamHandler& handler)
      : queue_(queue), run_(run), signals_(signals), progress_(progress), handler_(handler) {}

  Ending go(int input_fd);

 private:
  void wait();
  void take_signals();
  void flush();
  void take_events();
  void handle(bulkhead::Event event);
  void cancel();
  void feed(const bulkhead::Fault& fault);

  bulkhead::Queue& queue_;
  bulkhead::Run& run_;
  Signals& signals_;
  Progress& progress_;
  StreamHandler& handler_;

  Inlet inlet_{-1};
  Outlet stdout_{1};
  Outlet stderr_{2};
  bulkhead::Event held_;  // its bytes are not all written
  std::string_view rest_;
  Outlet* outlet_ = nullptr;
  Ending ending_;
  bool ended_ = false;
  std::int64_t give_up_ms_ = 0;  // after a cancellation, 0: none
};

}  // namespace bh::cli
