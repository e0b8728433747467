// What is known of each sandbox beyond a process: one file each beneath DATA_ROOT/state, written
// whole before the answer that depends on it goes out.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "state/data_root.h"

namespace bh {

struct SandboxRecord {
  std::string id;
  std::string persona;
  std::string backend;      // the provider's id
  std::string default_key;  // of the persona's default sandbox of one shape; else empty
  std::string state;        // "making", "running"
  std::int64_t created_ms = 0;
  json::object profile;     // as the backend got it
  json::object report;      // its enforcement report
};

// All [any]; two processes may use one DATA_ROOT.
class SandboxRecords {
 public:
  explicit SandboxRecords(const DataRoot& root) : root_(root) {}

  Result<void> put(const SandboxRecord& record) const;
  // NOT_FOUND (sandbox_not_found) where there is none.
  Result<SandboxRecord> get(const std::string& id) const;
  Result<void> remove(const SandboxRecord& record) const;
  Result<std::vector<SandboxRecord>> all() const;
  // The id of the default sandbox with that key, or empty.
  std::string default_of(const std::string& key) const;

 private:
  const DataRoot& root_;
};

// [a-z0-9-]{1,63}
bool valid_sandbox_id(std::string_view id);

}  // namespace bh
