// What is known of each job (a command that outlives the call that started it): a row each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "state/database.h"
#include "state/process_name.h"

namespace bh {

struct JobRecord {
  std::string id;
  std::string sandbox;
  std::string persona;
  json::array argv;      // as the caller gave it
  json::object options;  // as the backend got them
  std::string state;     // running, ended, lost
  std::string reason;    // where its own exit does not say it: stopped, failed, owner_ended
  std::string message;   // a sentence for that
  json::object exit;     // of ended: as in a command's result
  std::int64_t started_ms = 0;
  std::optional<std::int64_t> ended_ms;
  std::int64_t bytes = 0;      // of output so far
  std::int64_t kept_from = 0;  // the first byte that can still be read
  ProcessName owner;
};

// All [any]; several processes may use one DATA_ROOT. A job's record outlives its sandbox, so that who
// waits for it hears how it ended.
class JobRecords {
 public:
  explicit JobRecords(Database& db) : db_(db) {}

  // NOT_FOUND (sandbox_not_found) where its sandbox is gone.
  Result<void> put(const JobRecord& record);
  // NOT_FOUND (job_not_found) where there is none.
  Result<JobRecord> get(const std::string& id);
  // In the order in which they were started; an empty sandbox: of all.
  Result<std::vector<JobRecord>> list(const std::string& sandbox = {},
                                      const std::string& persona = {});
  // Running becomes what `record` says (state, reason, message, exit, ended_ms, bytes, kept_from);
  // false: it was not running any more, or is gone.
  Result<bool> finish(const JobRecord& record);
  // Absent is fine.
  Result<void> remove(const std::string& id);
  // Those that ended before that time, and of each persona's the oldest beyond `most`; their ids.
  Result<std::vector<std::string>> stale(std::int64_t before_ms, std::int64_t most);
  // Marks the running jobs of dead owners as lost; their ids.
  Result<std::vector<std::string>> lose(std::int64_t now_ms);

 private:
  Database& db_;
};

// The one sentence for a job that is not there or not the caller's.
Failure no_such_job(const std::string& id);

}  // namespace bh
