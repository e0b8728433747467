// What is known of each sandbox beyond a process: a row each, committed before the answer that
// depends on it goes out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "state/database.h"
#include "state/process_name.h"

namespace bh {

// What changes in the life of a sandbox, and what it is found by.
struct SandboxLife {
  std::string id;
  std::string persona;
  std::string backend;      // the provider's id
  std::string default_key;  // of the persona's default sandboxes of one shape; else empty
  std::string state;        // making, running, pausing, paused, resuming, stopping, failed
  std::string reason;       // of stopping and failed
  std::string message;
  std::int64_t created_ms = 0;
  std::int64_t changed_ms = 0;  // of the state
  std::int64_t used_ms = 0;     // the last time that a command began or ended
  std::optional<std::int64_t> expires_ms;
  // Who runs commands or jobs inside, and how many; nobody while busy is 0.
  ProcessName owner;
  std::int64_t busy = 0;
  bool inherited = false;  // taken over from a dead owner, whose processes are being ended
  ProcessName actor;       // who makes, pauses, resumes or ends it

  bool expired(std::int64_t now_ms) const { return expires_ms && *expires_ms <= now_ms; }
};

struct SandboxRecord : SandboxLife {
  std::string image;  // as the caller named it; empty: none
  json::object env;
  json::object metadata;
  json::object profile;  // as the backend got it
  json::object report;   // its enforcement report
  std::string root_image;  // the digest of the image of the store that it starts from; empty: none
};

// All [any]; several processes may use one DATA_ROOT. Errors: those of Database, and DATA_LOSS
// (record) for a row that cannot be read.
class SandboxRecords {
 public:
  explicit SandboxRecords(Database& db) : db_(db) {}

  // The whole record, new or not.
  Result<void> put(const SandboxRecord& record);
  // What was being made becomes what `record` says, where it is still "making" by that actor and
  // has no reason; false: another ended it meanwhile.
  Result<bool> finish_making(const SandboxRecord& record);
  // NOT_FOUND (sandbox_not_found) where there is none.
  Result<SandboxRecord> get(const std::string& id);
  Result<SandboxLife> life(const std::string& id);
  // Absent is fine.
  Result<void> remove(const std::string& id);
  // Of one persona, or of all where it is empty, in the order in which they were made.
  Result<std::vector<SandboxRecord>> all(const std::string& persona = {});
  Result<std::int64_t> count(const std::string& persona);
  Result<std::vector<SandboxLife>> lives();

  // Reads, lets `step` change it and writes it back, with nobody in between; an error of step's
  // changes nothing. `changed_ms` follows the state by itself.
  using Step = std::function<Result<void>(SandboxLife&)>;
  Result<SandboxLife> change(const std::string& id, const Step& step);

  // The same among all default sandboxes of that key: `pick` changes the one that it returns; null:
  // none of them will do, nothing is changed and the answer is empty.
  using Pick = std::function<SandboxLife*(std::vector<SandboxLife>&)>;
  Result<std::optional<SandboxLife>> change_default(const std::string& key, const Pick& pick);

 private:
  Result<void> save(Database::Turn& turn, const SandboxLife& was, SandboxLife& life);

  Database& db_;
};

// [a-z0-9-]{1,63}
bool valid_sandbox_id(std::string_view id);

// The one sentence for a sandbox that is not there or not the caller's.
Failure no_such_sandbox(const std::string& id);

}  // namespace bh
