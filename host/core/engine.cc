#include "core/engine.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/process_id.h"
#include "core/drive.h"
#include "core/host_view.h"
#include "core/spin.h"

namespace bh {

namespace {
constexpr std::size_t kMostBeside = 256;
}

Error with_partial(Error error, const std::string& partial_json) {
  json::object details;
  if (auto parsed = json::parse_object(error.details)) details = std::move(*parsed);
  // The outermost partial wins: it knows the most of what was asked for.
  if (auto partial = json::parse(partial_json)) details["partial"] = std::move(*partial);
  error.details = json::print(details);
  return error;
}

Engine::Engine(const Catalogue& catalogue, std::size_t workers)
    : catalogue_(catalogue),
      pid_(process_id()),
      timer_([this](const std::shared_ptr<Run>& run) { overdue(run); }),
      work_(workers, false),
      control_(2, true),
      beside_(kMostBeside, false) {}

Engine::~Engine() = default;

bool Engine::forked() const { return process_id() != pid_; }

bool Engine::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

Result<void> Engine::usable() const {
  if (forked()) {
    return fail(BH_FAILED_PRECONDITION,
                "this runtime was made in process " + std::to_string(pid_) +
                    " and does not survive fork(); make one in the child (Python: spawn)",
                "forked");
  }
  if (closing_) return fail(BH_FAILED_PRECONDITION, "the runtime is closed", "closed");
  return {};
}

Result<std::shared_ptr<Run>> Engine::make_run(std::shared_ptr<const Session> session,
                                              RunOptions options) {
  BH_TRY(usable());
  std::shared_ptr<Question> question;
  if (session->from_question) {
    question = session->question.lock();
    if (!question) {
      return fail(BH_OUT_OF_RANGE, "the question that lent this session has ended", "ask_ended");
    }
    auto left = question->time_left();
    if (!left) return tl::unexpected(std::move(left).error());
    if (*left != kNoLimit) {
      std::int64_t limit = std::max<std::int64_t>(*left, 1);
      options.timeout_ns = options.timeout_ns > 0 ? std::min(options.timeout_ns, limit) : limit;
    }
  }
  auto run = std::make_shared<Run>(shared_from_this(), std::move(session), std::move(options));
  {
    auto lock = lock_soon(mutex_);
    if (closing_) return fail(BH_FAILED_PRECONDITION, "the runtime is closed", "closed");
    runs_.emplace(run.get(), run);
  }
  if (question) question->add_child(run);
  return run;
}

void Engine::forget(const Run* run) {
  std::shared_ptr<Run> last;
  auto lock = lock_soon(mutex_);
  auto at = runs_.find(run);
  if (at == runs_.end()) return;
  last = std::move(at->second);
  runs_.erase(at);
  run_gone_.notify_all();
  // After a close() that did not wait for it.
  if (closing_ && runs_.empty()) end_queues_locked();
}

void Engine::end_queues_locked() {
  for (EventQueue* queue : queues_) queue->end();
}

Result<std::string> Engine::perform(const std::shared_ptr<Run>& run,
                                    const Catalogue::Entry& entry, const RequestBody& request) {
  Result<std::string> outcome = std::string("null");
  try {
    Call call(*run, *run, run->input());
    Result<void> done = call.check();
    if (done) {
      Arguments args;
      args.values = request.args;
      for (const Blob& b : request.blobs) args.blobs.push_back({b.name, b.media_type, b.data});
      done = entry.spec.run(call, args);
    }
    if (done) {
      outcome = call.take_result();
    } else {
      Error error = std::move(done).error();
      if (call.has_result()) error = with_partial(std::move(error), call.take_result());
      outcome = tl::unexpected(std::move(error));
    }
  } catch (const std::bad_alloc&) {
    outcome = fail(BH_RESOURCE_EXHAUSTED, "there is not enough memory for this call", "memory");
  } catch (const std::exception& e) {
    outcome = fail(BH_INTERNAL, entry.spec.name + " failed inside the host: " + e.what(),
                   "exception");
  }
  return outcome;
}

void Engine::deliver(const std::shared_ptr<Run>& run, Result<std::string> outcome) {
  run->input().end();
  run->finish(std::move(outcome));
  forget(run.get());
  if (run->abandoned()) pool_of(*run).lend(-1);
}

Result<std::shared_ptr<Run>> Engine::start(std::shared_ptr<const Session> session,
                                           const Catalogue::Entry& entry,
                                           std::shared_ptr<const RequestBody> request,
                                           RunOptions options) {
  options.control_lane = entry.spec.lane == Lane::kControl;
  auto run = make_run(std::move(session), std::move(options));
  if (!run) return run;
  std::shared_ptr<Run> held = *run;
  bool started = pool_of(*held).start([this, held, &entry, request = std::move(request)] {
    // The run holds the engine, so `this` lives as long as the work does.
    return Pool::LastWord([this, held, outcome = perform(held, entry, *request)]() mutable {
      deliver(held, std::move(outcome));
    });
  });
  if (!started) {
    forget(held.get());
    return fail(BH_RESOURCE_EXHAUSTED,
                "all workers are busy; wait for a call to end, or raise \"workers\"", "pool_full");
  }
  if (held->time_left() != kNoLimit) held->watch_deadline();
  return run;
}

Result<void> Engine::run_here(std::shared_ptr<const Session> session, const Catalogue::Entry& entry,
                              std::shared_ptr<const RequestBody> request, RunOptions options) {
  options.on_callers_thread = true;
  auto run = make_run(std::move(session), std::move(options));
  if (!run) return tl::unexpected(std::move(run).error());
  SignalsBlocked as_on_a_worker;
  deliver(*run, perform(*run, entry, *request));
  return {};
}

void Engine::overdue(const std::shared_ptr<Run>& run) {
  // The plugin may still come back, or never: its caller has waited long enough, and its worker is
  // replaced.
  pool_of(*run).lend(1);
  Error error;
  {
    Result<void> why = run->time_left() <= 0 ? tl::unexpected(stop_error(BH_DEADLINE_EXCEEDED))
                                             : tl::unexpected(stop_error(BH_CANCELLED));
    error = why.error();
  }
  error.details = "{\"reason\":\"stuck\"}";
  error.message += "; the plugin has not returned and was given up";
  log_.write({BH_LOG_ERROR, "a call did not return within 2 s after it was stopped", {}, {}},
             &run->session());
  run->finish(tl::unexpected(std::move(error)));
}

void Engine::add_server(const std::shared_ptr<Server>& server) {
  std::lock_guard lock(mutex_);
  servers_.push_back(server);
  served_ = true;
}

void Engine::remove_server(const std::shared_ptr<Server>& server) {
  {
    std::lock_guard lock(mutex_);
    servers_.erase(std::remove(servers_.begin(), servers_.end(), server), servers_.end());
    served_ = !servers_.empty();
  }
  std::vector<std::weak_ptr<Question>> open;
  {
    std::lock_guard lock(server->mutex);
    server->gone = true;
    open.swap(server->open);
  }
  for (const auto& weak : open) {
    if (auto question = weak.lock()) question->give_up("the embedder withdrew its offer to answer");
  }
}

std::vector<std::shared_ptr<Server>> Engine::servers_of(const Session& session,
                                                        std::string_view answers) {
  if (!served_) return {};
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Server>> out;
  for (const auto& s : servers_) {
    if (s->answers == answers && (s->for_all || s->persona == session.persona)) out.push_back(s);
  }
  return out;
}

namespace {

Result<void> attach_to_question(Call& asker, const Server& server, const Question& question,
                                const std::vector<BlobView>& blobs) {
  for (const BlobView& blob : blobs) {
    bh_status st = asker.run().attach_to(asker, {server.queue, server.tag, question.id()}, blob);
    if (st == BH_OK) continue;
    BH_TRY(asker.recorded());
    return tl::unexpected(stop_error(st));
  }
  return {};
}

}  // namespace

Result<std::string> Engine::ask(Call& asker, const std::shared_ptr<Server>& server,
                                std::string name, std::string args, bool people,
                                const std::vector<BlobView>& blobs) {
  Run& run = asker.run();
  if (run.on_callers_thread() && run.queue() == server->queue) {
    return fail(BH_FAILED_PRECONDITION,
                "this call runs on the thread that would have to answer; use bh_start()",
                "would_deadlock");
  }
  auto question = std::make_shared<Question>(next_question_++, *server, asker);
  {
    std::lock_guard lock(server->mutex);
    if (server->gone) return fail(BH_UNAVAILABLE, "nobody answers this any more", "unanswered");
    auto& open = server->open;
    open.erase(std::remove_if(open.begin(), open.end(), [](const auto& q) { return q.expired(); }),
               open.end());
    open.push_back(question);
  }
  if (people) run.pause_clock();
  bool lent = !run.on_callers_thread();
  if (lent) pool_of(run).lend(1);
  // They come first: who gets the question has all that belongs to it.
  Result<void> given = attach_to_question(asker, *server, *question, blobs);
  Result<std::string> answer;
  if (given) {
    auto event = std::make_unique<Event>(BH_EVENT_ASK, server->tag);
    event->id = question->id();
    event->name = std::move(name);
    event->data = std::move(args);
    event->question = question;
    server->queue->push(std::move(event));
    answer = question->wait(asker);
  } else {
    question->end();
    answer = tl::unexpected(std::move(given).error());
  }
  if (lent) pool_of(run).lend(-1);
  if (people) run.resume_clock();
  return answer;
}

Result<void> Engine::add_queue(EventQueue* queue) {
  std::lock_guard lock(mutex_);
  if (closing_) return fail(BH_FAILED_PRECONDITION, "the runtime is closed", "closed");
  queues_.insert(queue);
  return {};
}

void Engine::remove_queue(EventQueue* queue) {
  std::lock_guard lock(mutex_);
  queues_.erase(queue);
}

void Engine::cancel_reporting_to(const EventQueue* queue) {
  std::vector<std::shared_ptr<Run>> theirs;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [raw, run] : runs_) {
      if (run->queue().get() == queue) theirs.push_back(run);
    }
  }
  for (const auto& run : theirs) run->cancel();
}

void Engine::notify(const std::string& plugin, const json::object& what) {
  if (rooms_) rooms_->notify(plugin, what);
}

std::string Engine::plugin_of(const bh_host* host) const {
  return host != nullptr ? static_cast<const HostView*>(host)->plugin : std::string();
}

bool Engine::wait_for_runs(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  return run_gone_.wait_until(lock, until, [&] { return runs_.empty(); });
}

Result<void> Engine::close(std::chrono::milliseconds timeout) {
  auto until = std::chrono::steady_clock::now() + timeout;
  std::vector<std::shared_ptr<Run>> running;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return {};
    closing_ = true;
    for (const auto& [raw, run] : runs_) running.push_back(run);
    if (runs_.empty()) end_queues_locked();
  }
  for (const auto& run : running) run->cancel();
  running.clear();
  if (!wait_for_runs(until)) {
    return fail(BH_DEADLINE_EXCEEDED,
                "a call has not returned; a plugin is stuck and keeps its memory", "stuck");
  }
  {
    std::lock_guard lock(mutex_);
    if (closed_) return {};
    closed_ = true;
  }
  if (rooms_) rooms_->close();
  timer_.end();
  auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  rest = std::max(rest, std::chrono::milliseconds(100));
  work_.end(rest);
  control_.end(rest);
  beside_.end(rest);
  return {};
}

}  // namespace bh
