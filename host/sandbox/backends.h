// The isolation backends that there are: chosen, permitted, opened on first use and kept.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "core/call_lock.h"
#include "core/driver_schema.h"
#include "sandbox/backend.h"
#include "sandbox/settings.h"
#include "state/data_root.h"

namespace bh {

// A backend with what the host has to know of its schemas.
struct OpenedBackend {
  std::shared_ptr<Backend> backend;
  DriverSchema profile;
  DriverSchema exec;
};

class Backends {
 public:
  // Finds a provider of isolation by id, loading its plugin; NOT_FOUND where there is none.
  using Find = std::function<Result<const Provider*>(const std::string& id)>;
  using Names = std::function<std::vector<std::string>()>;
  using HostOf = std::function<const bh_host*(const std::string& plugin)>;

  Backends(const DataRoot& root, const SandboxSettings& settings, Find find, Names names,
           HostOf host_of);

  // Those that may serve a wish, best first: the one that a caller or the operator named, else all
  // that isolate. PERMISSION_DENIED for "process" without the operator's word
  // (backend_not_permitted); UNAVAILABLE where none is installed. [any]
  Result<std::vector<std::string>> candidates(const std::string& wished) const;

  // Opened, by name. NOT_FOUND or what probe() says (backend_unavailable). Waits for another's opening
  // of the same one as long as the call may. [any] [blocking]
  Result<std::shared_ptr<const OpenedBackend>> get(Call& up, const std::string& name);
  // The same for one of several candidates: what it said a moment ago, when it could not work, is
  // not asked again.
  Result<std::shared_ptr<const OpenedBackend>> try_get(Call& up, const std::string& name);

  std::vector<std::string> names() const { return names_(); }

  // What probe() says, as plugin.list shows it. [any] [blocking]
  json::object probe(Call& up, const Provider& provider);

  void close();

 private:
  Result<std::shared_ptr<const OpenedBackend>> open(Call& up, const Provider& provider);
  Result<std::string> probed(Call& up, const Provider& provider);

  const DataRoot& root_;
  const SandboxSettings& settings_;
  const Find find_;
  const Names names_;
  const HostOf host_of_;
  // One provider: a slow one holds up nobody who wants another.
  struct Slot {
    CallLock opening;
    // Guarded by mutex_.
    std::shared_ptr<const OpenedBackend> opened;  // null: not yet
    std::optional<Error> refused;                 // by try_get()
    std::int64_t refused_ns = 0;
  };
  std::shared_ptr<Slot> slot_of(const std::string& name);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace bh
