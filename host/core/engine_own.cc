// Calls of the host's own, which no embedder's run stands behind.
#include <exception>
#include <utility>

#include "core/engine.h"

namespace bh {

Result<void> Engine::run_internal(std::int64_t timeout_ns,
                                  const std::function<Result<void>(Call&)>& work) {
  RunOptions options;
  options.queue = std::make_shared<EventQueue>();
  options.queue->close();
  options.timeout_ns = timeout_ns;
  options.on_callers_thread = true;
  auto session = std::make_shared<Session>();
  session->is_operator = true;
  auto run = std::make_shared<Run>(shared_from_this(), std::move(session), std::move(options));
  SignalsBlocked as_on_a_worker;
  NullSink nowhere;
  NoInput none;
  Call call(*run, nowhere, none);
  return work(call);
}

Result<std::shared_ptr<Run>> Engine::run_beside(const Session& whose,
                                                std::function<void(Call&)> work) {
  RunOptions options;
  options.queue = std::make_shared<EventQueue>();
  options.queue->close();
  // Nobody waits for its answers, so nobody has to be answered in its stead.
  options.on_callers_thread = true;
  // Not the session itself: one that a question lent ends with that question.
  auto session = std::make_shared<Session>();
  session->persona = whose.persona;
  session->is_operator = whose.is_operator;
  auto run = make_run(std::move(session), std::move(options));
  if (!run) return run;
  std::shared_ptr<Run> held = *run;
  const bool started = beside_.start([this, held, work = std::move(work)] {
    try {
      NullSink nowhere;
      NoInput none;
      Call call(*held, nowhere, none);
      work(call);
    } catch (const std::exception& e) {
      log_.write({BH_LOG_ERROR, std::string("work beside the calls failed: ") + e.what(), {}, {}},
                 &held->session());
    }
    return Pool::LastWord([this, held] { deliver(held, std::string("null")); });
  });
  if (!started) {
    forget(held.get());
    return fail(BH_RESOURCE_EXHAUSTED,
                "this host runs as many jobs as it can; wait for one to end, or end one", "pool_full");
  }
  return run;
}

}  // namespace bh
