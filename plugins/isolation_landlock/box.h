// A handle on one sandbox.
#pragma once

#include <bulkhead/sdk/isolation/files_box.hpp>
#include <bulkhead/sdk/isolation/state_box.hpp>
#include <memory>
#include <set>
#include <string>

#include "prepare.h"

namespace landlocked {

// What the backend and the handles that it gave out share; outlives both.
struct Shared : isolation::Sandboxes {
  Tools tools;
  isolation::FileWorkers file_workers;

  // A folder that create() made for a sandbox whose profile names none; empty where there is none.
  std::string own_folder(std::string_view id, const char* name) const {
    const std::string path = store.path(id, name);
    return ::access(path.c_str(), F_OK) == 0 ? isolation::canonical(path) : std::string();
  }
};

// What create() settled, kept as ID/facts.
struct Facts {
  uint32_t uid = 0;  // the kernel's, of whoever made it
  std::set<std::string> absent;
  std::string print() const;
  static sdk::Result<Facts> parse(std::string_view text);
};

class Box : public sdk::Sandbox,
            public isolation::SandboxFiles,
            public isolation::SandboxTerminals,
            public isolation::SandboxPause {
 public:
  Box(std::shared_ptr<Shared> shared, std::string id, std::string profile, Facts facts)
      : SandboxFiles(*shared, shared->file_workers, id),
        SandboxTerminals(*shared, id),
        SandboxPause(*shared, id),
        shared_(std::move(shared)),
        id_(std::move(id)),
        profile_(std::move(profile)),
        facts_(std::move(facts)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override;
  sdk::Status inspect(sdk::Call& call) override {
    return isolation::inspect_sandbox(call, *shared_, id_);
  }
  sdk::Status signal(sdk::Call&, std::string_view exec_id, int32_t number) override {
    return isolation::signal_commands(shared_->running, shared_->store, id_, exec_id, number);
  }

 private:
  sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> start_files(sdk::Call& call) override;
  sdk::Result<Prepared> prepared() const;
  sdk::Status run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out);

  const std::shared_ptr<Shared> shared_;
  const std::string id_, profile_;
  const Facts facts_;
};

}  // namespace landlocked
