#include "sandbox/job_run.h"

#include <utility>

#include "core/engine.h"
#include "sandbox/exec_result.h"
#include "sandbox/sandboxes.h"
#include "sandbox/sight.h"

namespace bh {
namespace {

// Linux's numbers, on every platform.
constexpr std::int32_t kKill = 9;
constexpr std::int32_t kContinue = 18;  // a command that runs takes no notice of it

const bh_isolation_jobs* jobs_of(const Backend& backend) {
  const bh_isolation& table = backend.table();
  if (!BH_HAS(&table, bh_isolation, get_extension) || table.get_extension == nullptr) return nullptr;
  const auto* jobs = static_cast<const bh_isolation_jobs*>(table.get_extension(BH_ISOLATION_JOBS));
  const bool whole = jobs != nullptr && BH_HAS(jobs, bh_isolation_jobs, attach) &&
                     jobs->start != nullptr && jobs->attach != nullptr;
  return whole ? jobs : nullptr;
}

bool can_signal(const Backend& backend) {
  return BH_HAS(&backend.table(), bh_isolation, signal) && backend.table().signal != nullptr;
}

Result<std::string> send(Call& up, const Sandbox& sandbox, const std::string& id, std::int32_t number) {
  const Backend& backend = *sandbox.opened->backend;
  NullSink nowhere;
  NoInput none;
  return drive(up, backend.host(), backend.who("signal"), nowhere, none, [&](bh_call* c) {
    return backend.table().signal(sandbox.handle, c, id.data(), id.size(), number);
  });
}

}  // namespace

class JobRun::Output final : public NullSink {
 public:
  explicit Output(JobRun& job) : job_(job) {}
  bh_status emit(Call&, int stream, std::string_view bytes) override {
    job_.note_began();
    job_.output_.append(stream == BH_STREAM_STDERR ? BH_STREAM_STDERR : BH_STREAM_STDOUT, bytes);
    return BH_OK;
  }

 private:
  JobRun& job_;
};

JobRun::JobRun(JobRecords& records, JobRecord record, Use use, std::vector<std::string> argv,
               JobOutput output, std::shared_ptr<void> place)
    : records_(records),
      record_(std::move(record)),
      use_(std::move(use)),
      sandbox_(use_.sandbox()),
      argv_(std::move(argv)),
      options_(json::print(record_.options)),
      output_(std::move(output)),
      place_(std::move(place)) {}

void JobRun::note_began() {
  std::lock_guard lock(mutex_);
  if (stage_ == Stage::kStarting) stage_ = Stage::kBegan;
}

void JobRun::runs_as(const std::shared_ptr<Run>& run) {
  std::lock_guard lock(mutex_);
  run_ = run;
}

Result<bool> JobRun::began(Call& up) {
  {
    std::lock_guard lock(mutex_);
    if (stage_ == Stage::kFailed) return tl::unexpected(error_);
    if (stage_ == Stage::kBegan) return true;
  }
  const Backend& backend = *sandbox_->opened->backend;
  // exec() is silent until the command writes something or ends, but signals reach what runs alone.
  if (can_signal(backend)) {
    auto reached = send(up, *sandbox_, record_.id, kContinue);
    if (!reached && (reached.error().code == BH_NOT_FOUND || up.stop_reason() != BH_OK)) return false;
  }
  note_began();
  // It may have failed since we looked.
  std::lock_guard lock(mutex_);
  if (stage_ == Stage::kFailed) return tl::unexpected(error_);
  return true;
}

bool JobRun::starting() {
  std::lock_guard lock(mutex_);
  return stage_ == Stage::kStarting;
}

bool JobRun::give_up() {
  std::shared_ptr<Run> run;
  {
    std::lock_guard lock(mutex_);
    if (stage_ == Stage::kBegan) return false;
    if (stage_ == Stage::kStarting) stage_ = Stage::kGivenUp;
    run = run_.lock();
  }
  if (run) run->cancel();
  return true;
}

Result<void> JobRun::run_in_backend(Call& call, const bh_isolation_jobs& table, const bh_exec& what,
                                    bh_exit* exit) {
  const Backend& backend = *sandbox_->opened->backend;
  const std::string& id = record_.id;
  NoInput none;
  NullSink nowhere;
  auto started = drive(call, backend.host(), backend.who("start"), nowhere, none,
                       [&](bh_call* c) { return table.start(sandbox_->handle, c, &what); });
  if (!started) return tl::unexpected(std::move(started).error());
  note_began();
  Output output(*this);
  auto done = drive(call, backend.host(), backend.who("attach"), output, none, [&](bh_call* c) {
    return table.attach(sandbox_->handle, c, id.data(), id.size(), 0, BH_JOB_FOLLOW, exit);
  });
  CallOptions cleanup;
  cleanup.cleanup = true;
  Call after(call, nowhere, none, cleanup);
  if (done) {
    if (auto told = json::parse(*done); told && told->is_object()) {
      output_.skip(json::get_int(told->get_object(), "skipped"));
    }
  } else if (can_signal(backend)) {
    // To be left alone by the end of a call is what such jobs are for; ours end with their owner.
    exit->reason = BH_EXIT_STOPPED;
    (void)send(after, *sandbox_, id, kKill);
  }
  if (BH_HAS(&table, bh_isolation_jobs, forget) && table.forget != nullptr) {
    (void)drive(after, backend.host(), backend.who("forget"), nowhere, none, [&](bh_call* c) {
      return table.forget(sandbox_->handle, c, id.data(), id.size());
    });
  }
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<void> JobRun::run_command(Call& call, bh_exit* exit) {
  std::vector<bh_str> pointers;
  for (const std::string& a : argv_) pointers.push_back({a.data(), a.size()});
  bh_exec what{};
  what.struct_size = sizeof what;
  what.id = {record_.id.data(), record_.id.size()};
  what.argv = pointers.data();
  what.argc = pointers.size();
  what.options = {options_.data(), options_.size()};
  const Backend& backend = *sandbox_->opened->backend;
  if (const bh_isolation_jobs* jobs = jobs_of(backend)) {
    auto done = run_in_backend(call, *jobs, what, exit);
    // Not in this sandbox: then as where there is no such table.
    const bool try_exec = !done && done.error().code == BH_UNIMPLEMENTED && starting();
    if (!try_exec) return done;
  }
  Output output(*this);
  NoInput none;
  auto done = drive(call, backend.host(), backend.who("exec"), output, none, [&](bh_call* c) {
    return backend.table().exec(sandbox_->handle, c, &what, exit);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

void JobRun::write_down(Call& call, const Result<void>& done, const bh_exit& exit) {
  record_.state = "ended";
  record_.exit = exit_members(exit)["exit"].get_object();
  record_.ended_ms = wall_ms();
  record_.bytes = output_.bytes();
  record_.kept_from = output_.kept_from();
  if (call.stop_reason() != BH_OK) {
    record_.reason = "stopped";
    record_.message =
        "the process that ran it, " + std::to_string(record_.owner.pid) + ", was closed";
  } else if (!done) {
    record_.reason = "failed";
    record_.message = done.error().message;
  } else if (exit.reason == BH_EXIT_STOPPED) {
    record_.reason = "stopped";
    record_.message = "it was ended from outside, by a signal or with its sandbox";
  }
  auto written = records_.finish(record_);
  if (written) return;
  call.engine().log().write({BH_LOG_ERROR,
                             "how the job " + record_.id + " ended could not be recorded: " +
                                 written.error().message,
                             {},
                             {}},
                            &call.session());
}

void JobRun::drive_to_end(Call& call) {
  bh_exit exit = fresh_exit();
  Result<void> done = run_command(call, &exit);
  bool there = true;
  {
    std::lock_guard lock(mutex_);
    if (stage_ == Stage::kGivenUp) there = false;
    if (stage_ == Stage::kStarting && !done) {
      stage_ = Stage::kFailed;
      error_ = done.error();
      there = false;
    } else if (stage_ == Stage::kStarting) {
      stage_ = Stage::kBegan;
    }
  }
  if (there) write_down(call, done, exit);
  // After the record: whoever is woken by it reads that.
  output_.end();
  use_ = Use();
  place_.reset();
}

}  // namespace bh
