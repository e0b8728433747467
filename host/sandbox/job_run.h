// One job while it runs here: the thread that drives its command, and those who wait for it to begin.
#pragma once

#include <bulkhead/isolation_jobs.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/run.h"
#include "sandbox/job_output.h"
#include "sandbox/lease.h"
#include "state/job_records.h"

namespace bh {

struct Sandbox;

class JobRun {
 public:
  // `place` is kept as long as it runs.
  JobRun(JobRecords& records, JobRecord record, Use use, std::vector<std::string> argv,
         JobOutput output, std::shared_ptr<void> place);

  // The job's thread: back when the command has ended and its record says how.
  void drive_to_end(Call& call);

  // --- for who started it [any]
  void runs_as(const std::shared_ptr<Run>& run);
  // True: the command runs, or ran. The error: it could not be run.
  Result<bool> began(Call& up);
  // Ends it as if it had never been, where nobody knows yet that it began; false: it did.
  bool give_up();

 private:
  class Output;
  enum class Stage { kStarting, kBegan, kGivenUp, kFailed };

  Result<void> run_command(Call& call, bh_exit* exit);
  Result<void> run_in_backend(Call& call, const bh_isolation_jobs& table, const bh_exec& what,
                              bh_exit* exit);
  void note_began();
  bool starting();
  void write_down(Call& call, const Result<void>& done, const bh_exit& exit);

  JobRecords& records_;
  JobRecord record_;
  Use use_;  // until it has ended
  const std::shared_ptr<Sandbox> sandbox_;
  const std::vector<std::string> argv_;
  const std::string options_;
  JobOutput output_;
  std::shared_ptr<void> place_;

  std::mutex mutex_;
  Stage stage_ = Stage::kStarting;
  Error error_;  // of kFailed
  std::weak_ptr<Run> run_;
};

}  // namespace bh
