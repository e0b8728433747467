// All jobs of this host: commands that outlive the call that started them. Each has a thread here
// while it runs, its output in files, and a record that says what became of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/session.h"
#include "sandbox/lease.h"
#include "state/data_root.h"
#include "state/job_records.h"

namespace bh {

struct NewJob {
  std::vector<std::string> argv;
  json::array argv_json;  // as the caller gave it
  json::object options;   // as the backend gets them
};

// All [any] [blocking]. A persona's session sees its own jobs alone, the operator's all: another's is
// NOT_FOUND (job_not_found), as if it were not there. Every function may give the errors of Database.
class Jobs {
 public:
  static constexpr int kMostPerPersona = 64;
  static constexpr int kMost = 256;  // as many as the engine runs beside the calls

  Jobs(const DataRoot& root, JobRecords& records) : root_(root), records_(records) {}

  // Back once the command runs; the end of `up` does not end it, that of this process does. It holds
  // the sandbox while it runs. RESOURCE_EXHAUSTED too_many_jobs; what exec says of one that cannot
  // be run, and then there is no job.
  Result<JobRecord> start(Call& up, Use use, NewJob job);

  Result<JobRecord> get(const Session& session, const std::string& id);
  // Of one sandbox, or of all.
  Result<std::vector<JobRecord>> list(const Session& session, const std::string& sandbox);

  struct Attached {
    JobRecord job;
    std::int64_t next = 0;     // the cursor to go on from
    std::int64_t skipped = 0;  // bytes on the way that are not kept
    std::optional<Error> error;  // why it was broken off
  };
  // Emits the output from byte `cursor` on into `up`; with `follow` until the job ends. At most `most`
  // bytes. OUT_OF_RANGE job_cursor.
  Result<Attached> attach(Call& up, const std::string& id, std::int64_t cursor, bool follow,
                          std::int64_t most);

  // FAILED_PRECONDITION job_running.
  Result<void> forget(const Session& session, const std::string& id);

 private:
  class Place;

  Result<std::shared_ptr<void>> place(const std::string& persona);
  Result<JobRecord> current(Result<JobRecord> record);

  const DataRoot& root_;
  JobRecords& records_;
  std::mutex mutex_;
  std::map<std::string, int> running_;  // of each persona
  int all_running_ = 0;
};

}  // namespace bh
