// What makes runs go: workers, timer, log, the list of operations, and the embedder's offers to
// answer. It knows the rooms above only as something to destroy in time.
//
// Owned by the embedder's runtime handle, by sessions, queues and runs together. All [any].
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "core/log.h"
#include "core/operation.h"
#include "core/pool.h"
#include "core/question.h"
#include "core/queue.h"
#include "core/run.h"
#include "core/session.h"
#include "core/timer.h"

namespace bh {

// What the rooms above hang on an engine; operations know its real type.
class Rooms {
 public:
  Rooms() = default;
  Rooms(const Rooms&) = delete;
  Rooms& operator=(const Rooms&) = delete;
  virtual ~Rooms() = default;
  // Ends what goes on, closes providers, shuts plugins down. Called once, with no run left.
  virtual void close() = 0;
  // A plugin's hint that something changed.
  virtual void notify(const std::string& plugin, const json::object& what) = 0;
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(const Catalogue& catalogue, std::size_t workers);
  ~Engine();

  void set_rooms(std::unique_ptr<Rooms> rooms) { rooms_ = std::move(rooms); }
  Rooms& rooms() const { return *rooms_; }
  const Catalogue& catalogue() const { return catalogue_; }
  Log& log() { return log_; }
  Timer& timer() { return timer_; }

  // FAILED_PRECONDITION after fork() or close.
  Result<void> usable() const;
  bool forked() const;
  bool closed() const;

  // On a worker. The run is the engine's until it has ended.
  Result<std::shared_ptr<Run>> start(std::shared_ptr<const Session> session,
                                     const Catalogue::Entry& entry,
                                     std::shared_ptr<const struct RequestBody> request,
                                     RunOptions options);
  // On the calling thread; back when it has ended. [blocking]
  Result<void> run_here(std::shared_ptr<const Session> session, const Catalogue::Entry& entry,
                        std::shared_ptr<const struct RequestBody> request, RunOptions options);

  // A call of the host's own, outside every request: opening a provider, a scan. Its output is
  // dropped; with a time limit it is stopped like any other.
  Result<void> run_internal(std::int64_t timeout_ns, const std::function<Result<void>(Call&)>& work);

  // Work that outlives the run that asked for it, in the name of that run's session but bound by none
  // of its limits: on a thread of the host's own, until it returns. The answer's cancel() stops it, and
  // so does close(), which waits for it. Its output is dropped. RESOURCE_EXHAUSTED pool_full.
  Result<std::shared_ptr<Run>> run_beside(const Session& whose, std::function<void(Call&)> work);

  // --- the embedder answers
  void add_server(const std::shared_ptr<Server>& server);
  void remove_server(const std::shared_ptr<Server>& server);
  std::vector<std::shared_ptr<Server>> servers_of(const Session& session, std::string_view answers);
  // Asks and waits; the asker's place among the workers is lent meanwhile. `people`: its clock stands
  // still. `blobs` go to the embedder before the question. [blocking]
  Result<std::string> ask(Call& asker, const std::shared_ptr<Server>& server, std::string name,
                          std::string args, bool people, const std::vector<BlobView>& blobs = {});

  // An embedder's queue, until it is removed: ended when the engine is closed and its last run is gone.
  // FAILED_PRECONDITION closed.
  Result<void> add_queue(EventQueue* queue);
  void remove_queue(EventQueue* queue);
  void cancel_reporting_to(const EventQueue* queue);
  void notify(const std::string& plugin, const json::object& what);
  std::string plugin_of(const bh_host* host) const;

  // Stops all runs, then the rooms. DEADLINE_EXCEEDED: a plugin is stuck; its memory stays. [blocking]
  Result<void> close(std::chrono::milliseconds timeout);

 private:
  Result<std::string> perform(const std::shared_ptr<Run>& run, const Catalogue::Entry& entry,
                              const struct RequestBody& request);
  void deliver(const std::shared_ptr<Run>& run, Result<std::string> outcome);
  Pool& pool_of(const Run& run) { return run.control_lane() ? control_ : work_; }
  Result<std::shared_ptr<Run>> make_run(std::shared_ptr<const Session> session, RunOptions options);
  void forget(const Run* run);
  void end_queues_locked();
  void overdue(const std::shared_ptr<Run>& run);
  bool wait_for_runs(std::chrono::steady_clock::time_point until);

  const Catalogue& catalogue_;
  const pid_t pid_;
  Log log_;
  Timer timer_;
  Pool work_;
  Pool control_;
  Pool beside_;
  std::unique_ptr<Rooms> rooms_;
  std::atomic<std::uint64_t> next_question_{1};

  mutable std::mutex mutex_;
  std::condition_variable run_gone_;
  std::unordered_map<const Run*, std::shared_ptr<Run>> runs_;
  std::unordered_set<EventQueue*> queues_;
  std::vector<std::shared_ptr<Server>> servers_;
  std::atomic<bool> served_{false};  // there are servers_: most calls find none, without the mutex
  std::atomic<bool> closing_{false};
  bool closed_ = false;
};

// What a bh_request came to once it was checked; shared by all runs started from it.
struct RequestBody {
  json::object args;
  std::vector<Blob> blobs;
};

}  // namespace bh
