#include "sandbox/jobs.h"

#include <algorithm>
#include <utility>

#include "base/beneath.h"
#include "core/engine.h"
#include "sandbox/job_output.h"
#include "sandbox/job_reader.h"
#include "sandbox/job_run.h"
#include "sandbox/job_watch.h"
#include "sandbox/sandboxes.h"
#include "sandbox/sight.h"

namespace bh {
namespace {

constexpr std::size_t kPiece = 64u << 10;
constexpr std::size_t kLargest = 2u << 20;
constexpr std::int64_t kFirstLook = 1'000'000;
constexpr std::int64_t kLongestLook = 20'000'000;

Failure too_many(const std::string& whose, int limit) {
  return fail(BH_RESOURCE_EXHAUSTED,
              whose + " " + std::to_string(limit) +
                  " jobs, which is the most; wait for one to end, or end one with sandbox.interrupt",
              "too_many_jobs", {{"limit", std::to_string(limit)}});
}

}  // namespace

// Counts one running job while it lives.
class Jobs::Place {
 public:
  Place(Jobs& jobs, std::string persona) : jobs_(jobs), persona_(std::move(persona)) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    std::lock_guard lock(jobs_.mutex_);
    jobs_.all_running_--;
    if (--jobs_.running_[persona_] == 0) jobs_.running_.erase(persona_);
  }

 private:
  Jobs& jobs_;
  const std::string persona_;
};

Result<std::shared_ptr<void>> Jobs::place(const std::string& persona) {
  std::lock_guard lock(mutex_);
  if (all_running_ >= kMost) return too_many("this host runs", kMost);
  int& of_persona = running_[persona];
  if (of_persona >= kMostPerPersona) return too_many("this persona runs", kMostPerPersona);
  auto out = std::make_shared<Place>(*this, persona);
  of_persona++;
  all_running_++;
  return std::shared_ptr<void>(std::move(out));
}

Result<JobRecord> Jobs::start(Call& up, Use use, NewJob job) {
  JobRecord record;
  record.id = new_name('j');
  record.sandbox = use->id;
  record.persona = use->persona;
  record.argv = std::move(job.argv_json);
  record.options = job.options;
  record.state = "running";
  record.started_ms = wall_ms();
  // Kept for a day, also where the kernel takes no such command.
  if (json::print(record.argv).size() + json::print(record.options).size() > kLargest) {
    return fail(BH_RESOURCE_EXHAUSTED,
                "a job's arguments and options are " + std::to_string(kLargest >> 20) +
                    " MiB at most; put what is longer into a file",
                "too_large", {{"field", "/argv"}, {"limit", std::to_string(kLargest)}});
  }
  record.owner = ProcessName::self();
  auto place = this->place(record.persona);
  if (!place) return tl::unexpected(std::move(place).error());
  // The record first: a folder without one is swept.
  BH_TRY(records_.put(record));
  auto attempt = [&]() -> Result<std::shared_ptr<JobRun>> {
    auto output = JobOutput::make(root_, record.id);
    if (!output) return tl::unexpected(std::move(output).error());
    auto run = std::make_shared<JobRun>(records_, record, std::move(use), std::move(job.argv),
                                        std::move(*output), std::move(*place));
    auto thread = up.engine().run_beside(up.session(), [run](Call& call) { run->drive_to_end(call); });
    if (!thread) return tl::unexpected(std::move(thread).error());
    run->runs_as(*thread);
    return run;
  };
  auto run = attempt();
  Result<void> started;
  if (!run) {
    started = tl::unexpected(std::move(run).error());
  } else {
    for (std::int64_t look = kFirstLook;; look = std::min(look * 2, kLongestLook)) {
      auto known = (*run)->began(up);
      if (!known || *known) {
        if (!known) started = tl::unexpected(std::move(known).error());
        break;
      }
      if (bh_status stop = up.wait(look)) {
        // Nobody was told its name, so nobody could end it.
        if ((*run)->give_up()) started = tl::unexpected(stop_error(stop));
        break;
      }
    }
  }
  if (started) return record;
  (void)records_.remove(record.id);
  (void)remove_beneath(root_.fd(), job_files::folder(record.id));
  return tl::unexpected(std::move(started).error());
}

// What a dead process left as running is seen as what it is.
Result<JobRecord> Jobs::current(Result<JobRecord> record) {
  if (!record || record->state != "running" || record->owner.alive()) return record;
  BH_TRY(records_.lose(wall_ms()));
  return records_.get(record->id);
}

Result<JobRecord> Jobs::get(const Session& session, const std::string& id) {
  auto record = current(records_.get(id));
  if (!record) return record;
  if (!session.is_operator && record->persona != session.persona) return no_such_job(id);
  JobReader::Progress progress;
  JobReader reader(root_, id, 0);
  if (reader.progress(&progress)) {
    record->bytes = progress.bytes;
    record->kept_from = progress.kept_from;
  } else {
    record->bytes = std::max(record->bytes, reader.last_byte());
  }
  return record;
}

Result<std::vector<JobRecord>> Jobs::list(const Session& session, const std::string& sandbox) {
  BH_TRY(records_.lose(wall_ms()));
  auto all = records_.list(sandbox, session.is_operator ? std::string() : session.persona);
  if (!all) return all;
  std::vector<JobRecord> out;
  for (JobRecord& record : *all) {
    JobReader::Progress progress;
    if (record.state == "running" && JobReader(root_, record.id, 0).progress(&progress)) {
      record.bytes = progress.bytes;
      record.kept_from = progress.kept_from;
    }
    out.push_back(std::move(record));
  }
  return out;
}

Result<Jobs::Attached> Jobs::attach(Call& up, const std::string& id, std::int64_t cursor,
                                    bool follow, std::int64_t most) {
  auto seen = get(up.session(), id);
  if (!seen) return tl::unexpected(std::move(seen).error());
  if (cursor > seen->bytes) {
    return fail(BH_OUT_OF_RANGE,
                "cursor " + std::to_string(cursor) + " lies beyond the " +
                    std::to_string(seen->bytes) +
                    " bytes that came so far; go on from \"next\" of the last attach",
                "job_cursor", {{"field", "/cursor"}, {"size", std::to_string(seen->bytes)}});
  }
  Attached out;
  out.job = std::move(*seen);
  JobReader reader(root_, id, cursor);
  std::optional<JobWatch> watch;
  if (follow && out.job.state == "running") watch.emplace(root_, id, out.job.owner);
  std::int64_t emitted = 0;
  for (;;) {
    // First whether it goes on, then how much there is: what came last is not missed.
    const bool alive = out.job.state == "running" && out.job.owner.alive();
    JobReader::Progress progress;
    const bool told = reader.progress(&progress);
    std::int64_t there = told ? progress.bytes : reader.last_byte();
    if (!alive) there = std::max(there, out.job.bytes);
    while (reader.cursor() < there && emitted < most) {
      const JobReader::Piece piece =
          reader.next(there, static_cast<std::size_t>(std::min<std::int64_t>(kPiece, most - emitted)));
      if (piece.stream == 0) break;
      emitted += static_cast<std::int64_t>(piece.data.size());
      if (bh_status stop = up.emit(piece.stream, piece.data)) {
        out.error = stop_error(stop);
        break;
      }
    }
    if (out.error || emitted >= most || !watch || !alive) break;
    if (progress.ended) {
      auto now = get(up.session(), id);
      if (!now) {
        out.error = std::move(now).error();
        break;
      }
      out.job = std::move(*now);
      // Its record comes first, so it says so too, unless it could not be written.
      if (out.job.state != "running" || up.wait(kLongestLook) == BH_OK) continue;
    }
    if (bh_status stop = watch->wait(up)) {
      out.error = stop_error(stop);
      break;
    }
    if (!out.job.owner.alive()) {
      auto now = get(up.session(), id);
      if (now) out.job = std::move(*now);
    }
  }
  out.next = reader.cursor();
  out.skipped = reader.skipped();
  return out;
}

Result<void> Jobs::forget(const Session& session, const std::string& id) {
  auto record = get(session, id);
  if (!record) return tl::unexpected(std::move(record).error());
  if (record->state == "running") {
    return fail(BH_FAILED_PRECONDITION,
                "the job " + id + " is running; end it with sandbox.interrupt first", "job_running",
                {{"job", id}, {"sandbox", record->sandbox}});
  }
  BH_TRY(records_.remove(id));
  return remove_beneath(root_.fd(), job_files::folder(id));
}

}  // namespace bh
