// Looks after the deadlines of runs: at its time, a run's cancel fds become readable; one that does
// not return in time after it was stopped is answered for. One thread, made on first use.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace bh {

class Run;

class Timer {
 public:
  // `overdue`: called for a run that was stopped two seconds ago and has not returned.
  explicit Timer(std::function<void(const std::shared_ptr<Run>&)> overdue);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();

  // Looks at the run at that time (monotonic ns), or before where an earlier look is due. [any]
  void arm(const std::shared_ptr<Run>& run, std::int64_t at);
  // The run is no more. [any]
  void forget(const Run* run);
  // [any] [blocking]
  void end();

 private:
  void loop(const bool& gone);
  void look_at(const std::shared_ptr<Run>& run);

  const std::function<void(const std::shared_ptr<Run>&)> overdue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  struct Look {
    const Run* which;
    std::weak_ptr<Run> run;
  };
  using Due = std::multimap<std::int64_t, Look>;
  Due due_;
  // One look a run: a run that makes many calls with limits costs no more than one.
  std::unordered_map<const Run*, Due::iterator> look_of_;
  std::thread thread_;
  bool started_ = false;
  bool ended_ = false;
  // The thread holds it too: it is told here when the timer went while it was in look_at().
  const std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
};

}  // namespace bh
