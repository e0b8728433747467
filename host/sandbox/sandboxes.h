// All sandboxes of this host: who they belong to, where their records lie, which handles are open.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/session.h"
#include "sandbox/backends.h"
#include "sandbox/profile.h"
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
  bool is_default = false;

  Sandbox() = default;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox();
};

// All [any] [blocking]. A persona's session sees its own sandboxes alone, the operator's all: what
// belongs to another is NOT_FOUND, as if it were not there.
class Sandboxes {
 public:
  Sandboxes(const DataRoot& root, const SandboxSettings& settings, Backends& backends,
            SandboxRecords& records);

  // A new one, with folders of its own.
  Result<std::shared_ptr<Sandbox>> create(Call& up, const SandboxWish& wish);
  // The persona's default sandbox of that shape, made where it is not there. All of a persona's share
  // home and tmp.
  Result<std::shared_ptr<Sandbox>> default_of(Call& up, const SandboxWish& wish);
  Result<std::shared_ptr<Sandbox>> get(Call& up, const std::string& id);
  // Ends all inside, removes it and what it kept. What is gone already is NOT_FOUND.
  Result<void> kill(Call& up, const std::string& id);
  Result<std::vector<SandboxRecord>> list(const Session& session);

  struct Plan {
    std::string backend;
    json::object profile;
    json::object report;
  };
  // What create() would come to; makes nothing in the backend.
  Result<Plan> plan(Call& up, const SandboxWish& wish);

  void close();

 private:
  struct Shape;
  Result<Shape> shape_of(Call& up, const SandboxWish& wish, const std::string& folders);
  Result<std::shared_ptr<Sandbox>> make(Call& up, Shape shape, const std::string& id,
                                        const std::string& default_key);
  Result<std::shared_ptr<Sandbox>> reopen(Call& up, const SandboxRecord& record);
  Result<SandboxRecord> record_of(const Session& session, const std::string& id);
  std::shared_ptr<Sandbox> open_handle(const std::string& id);

  const DataRoot& root_;
  const SandboxSettings& settings_;
  Backends& backends_;
  SandboxRecords& records_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Sandbox>> handles_;
  std::map<std::string, std::string> defaults_;  // key -> id
};

// A name that was never used before: a letter for its kind and 80 random bits.
std::string new_name(char kind);

}  // namespace bh
