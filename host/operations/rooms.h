// Everything that the operations work on, in one place; what an engine carries as its rooms.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/engine.h"
#include "core/host_view.h"
#include "files/files.h"
#include "files/settings.h"
#include "files/stores.h"
#include "images/settings.h"
#include "images/store.h"
#include "loader/registry.h"
#include "operations/toolsets.h"
#include "sandbox/backends.h"
#include "sandbox/jobs.h"
#include "sandbox/sandboxes.h"
#include "sandbox/settings.h"
#include "state/data_root.h"
#include "state/database.h"
#include "state/image_records.h"
#include "state/job_records.h"
#include "state/sandbox_records.h"

namespace bh {

// Gives plugins' entries a call of the engine's, and each plugin its own view of the host.
class EngineCaller final : public PluginCaller {
 public:
  explicit EngineCaller(Engine& engine) : engine_(engine) {}
  Result<const bh_plugin*> enter(PluginEntry entry, const std::string& id) override;
  const bh_host* host(const std::string& id) override;

 private:
  Engine& engine_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<HostView>> views_;
};

struct HostSettings {
  std::string data_root;
  SandboxSettings sandbox;
  FilesSettings files;
  ImagesSettings images;
  RegistryOptions registry;
  std::map<std::string, json::object> toolset_config;
  json::object shown;  // what host.inspect tells of it
};

class HostRooms final : public Rooms {
 public:
  HostRooms(Engine& engine, HostSettings settings, DataRoot root);
  ~HostRooms() override;

  void close() override;
  void notify(const std::string& plugin, const json::object& what) override;

  // INVALID_ARGUMENT for a configuration of a provider that no plugin offers. Not while a manifest
  // is unreadable: it may be the one that does, and the load report has to be reachable.
  Result<void> check_config_names() const;

  HostSettings settings;  // does not change once the plugins' folders are known
  const DataRoot root;
  Database db;
  SandboxRecords records;
  JobRecords job_records;
  ImageRecords image_records;
  ImageStore images;
  EngineCaller caller;
  Registry registry;
  Backends backends;
  Sandboxes sandboxes;
  Stores stores;
  Files files;
  Jobs jobs;
  Toolsets toolsets;

 private:
  Engine& engine_;
};

inline HostRooms& rooms_of(Call& call) { return static_cast<HostRooms&>(call.engine().rooms()); }

}  // namespace bh
