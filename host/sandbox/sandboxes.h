// All sandboxes of this host: who they belong to, where their records lie, which handles are open.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/session.h"
#include "images/store.h"
#include "sandbox/backends.h"
#include "sandbox/keeper.h"
#include "sandbox/lease.h"
#include "sandbox/profile.h"
#include "sandbox/shape.h"
#include "state/job_records.h"
#include "state/sandbox_records.h"

namespace bh {

// One sandbox with its open handle. The handle is let go (not the sandbox) with the last who uses it.
struct Sandbox {
  std::string id;
  std::string persona;
  std::shared_ptr<const OpenedBackend> opened;
  void* handle = nullptr;
  json::object profile;
  json::object report;
  json::object env;  // of all its commands, below what each names itself
  bool is_default = false;

  Sandbox() = default;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox();
};

// What a new one is, beyond its shape.
struct NewSandbox {
  SandboxWish wish;
  std::optional<std::int64_t> timeout_ms;  // absent: it never expires
  json::object env;
  json::object metadata;
};

// All [any] [blocking]. A persona's session sees its own sandboxes alone, the operator's all: what
// belongs to another is NOT_FOUND (sandbox_not_found), as if it were not there; so is one whose time
// is over. Every function may give the errors of Database too.
class Sandboxes {
 public:
  // Runs work of the host's own, outside every request.
  using Internal = std::function<Result<void>(std::int64_t timeout_ns,
                                              const std::function<Result<void>(Call&)>& work)>;

  Sandboxes(const DataRoot& root, const SandboxSettings& settings, Backends& backends,
            ImageStore& images, SandboxRecords& records, JobRecords& jobs, Internal internal);

  // Looks after what time brings from now on.
  void start() { keeper_.start(); }

  // A new one, with folders of its own.
  Result<SandboxRecord> create(Call& up, const NewSandbox& wanted);

  // To run commands and jobs in: the lease is this process's while the answer lives. Waits where
  // another has it; see Leases::claim.
  Result<Use> use(Call& up, const std::string& id);
  // A default sandbox of the persona's of that shape, made where none is to be had at once: nobody
  // waits for another process. All of a persona's share home and tmp.
  Result<Use> use_default(Call& up, const SandboxWish& wish);
  // For what needs no lease: files, signals, looking at it.
  Result<std::shared_ptr<Sandbox>> get(Call& up, const std::string& id);

  Result<SandboxRecord> record(const Session& session, const std::string& id);
  Result<std::vector<SandboxRecord>> list(const Session& session);
  // The record, once its handle was opened; "failed" where the backend no longer has it.
  Result<SandboxRecord> connect(Call& up, const std::string& id);
  // It expires that long from now; the new time (Unix, ms). FAILED_PRECONDITION sandbox_ended.
  Result<std::int64_t> renew(const Session& session, const std::string& id, std::int64_t timeout_ms);
  // UNIMPLEMENTED (pause_unsupported) where the backend cannot.
  Result<void> pause(Call& up, const std::string& id);
  Result<void> resume(Call& up, const std::string& id);
  // Ends all inside, removes it and what it kept.
  Result<void> kill(Call& up, const std::string& id);

  struct Plan {
    std::string backend;
    json::object profile;
    json::object report;
  };
  // What create() would come to; makes nothing in the backend.
  Result<Plan> plan(Call& up, const SandboxWish& wish);

  // False: a plugin is stuck in something of ours, which must stay as it is.
  bool close();

 private:
  Result<Shape> shape_of(Call& up, const SandboxWish& wish, const std::string& folders);
  // RESOURCE_EXHAUSTED sandbox_limit: the persona has as many as one may have.
  Result<void> check_room(Call& up);
  // NOT_FOUND (image_unknown): the image went while the record was written that would have kept it.
  Result<void> check_root(const Shape& shape);
  SandboxRecord draft(Call& up, const std::string& id, const std::string& backend) const;
  // Makes what `record` (written as "making") says; on failure nothing of it is left.
  Result<std::shared_ptr<Sandbox>> make(Call& up, SandboxRecord& record, Shape shape,
                                        std::optional<std::int64_t> timeout_ms);
  Result<std::shared_ptr<Sandbox>> opened(Call& up, const std::string& id);
  Result<Use> entered(Call& up, const Leases::Claim& claim);
  Result<void> end_inherited(Call& up, const Sandbox& sandbox);
  std::shared_ptr<Sandbox> open_handle(const std::string& id);
  void forget(const std::string& id);  // its handle
  Result<void> set_paused(Call& up, const std::string& id, bool paused);

  // Ends what its record says is ended, and then removes the record. Safe to do twice, also at once.
  Result<void> end(Call& up, const std::string& id);
  Result<void> end_jobs(Call& up, const std::string& id);
  Result<void> end_after_failure(Call& up, const std::string& id);
  std::int64_t pass();
  void sweep_one(const SandboxLife& life);
  void sweep_folders();

  const DataRoot& root_;
  const SandboxSettings& settings_;
  Backends& backends_;
  ImageStore& images_;
  SandboxRecords& records_;
  JobRecords& jobs_;
  const Internal internal_;
  Leases leases_;
  Keeper keeper_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Sandbox>> handles_;
  std::set<std::string> making_;  // keys of default sandboxes that a thread of ours makes
};

// A name that was never used before: a letter for its kind and 80 random bits.
std::string new_name(char kind);

}  // namespace bh
