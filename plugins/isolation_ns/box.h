// A handle on one sandbox.
#pragma once

#include <bulkhead/sdk/isolation/files_box.hpp>
#include <bulkhead/sdk/isolation/state_box.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "live.h"

namespace ns {

// What create() settled, kept as ID/facts.
struct Facts {
  bool root = false;  // made by root
  std::set<std::string> absent;
  std::string print() const;
  static sdk::Result<Facts> parse(std::string_view text);
};

// What the backend and the handles that it gave out share; outlives both.
struct Shared : isolation::Sandboxes {
  explicit Shared(Tools t) : tools(std::move(t)), broker(tools.helper) {}
  Tools tools;
  BrokerClient broker;
  isolation::FileWorkers file_workers;

  // A folder that create() made for a sandbox whose profile names none; empty where there is none.
  std::string own_folder(std::string_view id, const char* name) const;
  sdk::Result<Prepared> prepare(std::string_view id, std::string_view profile,
                                const Facts* facts) const;

  // The one that handles of this process share, made from `prepared` where there is none yet.
  std::shared_ptr<Live> live(const std::string& id, Prepared prepared);
  std::shared_ptr<Live> forget(const std::string& id);

 private:
  std::mutex m_;
  std::map<std::string, std::shared_ptr<Live>> lives_;
};

class Box : public sdk::Sandbox,
            public isolation::SandboxFiles,
            public isolation::SandboxTerminals,
            public isolation::SandboxPause,
            public sdk::Ports {
 public:
  Box(std::shared_ptr<Shared> shared, std::string id, std::shared_ptr<Live> live)
      : SandboxFiles(*shared, shared->file_workers, id),
        SandboxTerminals(*shared, id),
        SandboxPause(*shared, id),
        shared_(std::move(shared)),
        id_(std::move(id)),
        live_(std::move(live)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override;
  sdk::Result<bh_fd> dial(sdk::Call& call, uint32_t port) override;
  sdk::Status inspect(sdk::Call& call) override {
    return isolation::inspect_sandbox(call, *shared_, id_);
  }
  sdk::Status signal(sdk::Call&, std::string_view exec_id, int32_t number) override {
    return isolation::signal_commands(shared_->running, shared_->store, id_, exec_id, number);
  }

 private:
  sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> start_files(sdk::Call& call) override;
  sdk::Status run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out);

  const std::shared_ptr<Shared> shared_;
  const std::string id_;
  const std::shared_ptr<Live> live_;
};

}  // namespace ns
