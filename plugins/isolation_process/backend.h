// The provider `process`, opened: no isolation. Commands run as the host's own user, see and change
// what it may, and their whole tree ends with them. The host gives it out by name and permission.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/isolation/environment.hpp>
#include <bulkhead/sdk/isolation/files_box.hpp>
#include <bulkhead/sdk/isolation/state_box.hpp>
#include <memory>
#include <string>

namespace process {

namespace sdk = bulkhead::sdk;
namespace isolation = bulkhead::sdk::isolation;

struct Shared : isolation::Sandboxes {
  std::string helper;
  isolation::Variables environment;
  isolation::FileWorkers file_workers;
};

class Backend : public sdk::Isolation {
 public:
  static sdk::Status probe(sdk::Call& call, const sdk::Opening& how);
  static sdk::Result<std::unique_ptr<Backend>> open(sdk::Call& call, const sdk::Opening& how);

  static const void* extension(std::string_view id) {
    return sdk::extensions<sdk::Files, sdk::Pty, sdk::Pause>(id);
  }

  explicit Backend(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  sdk::Status plan(sdk::Call& call, std::string_view profile) override;
  sdk::Result<std::unique_ptr<sdk::Sandbox>> create(sdk::Call& call, std::string_view id,
                                                    std::string_view profile) override;
  sdk::Result<std::unique_ptr<sdk::Sandbox>> find(sdk::Call& call, std::string_view id) override;
  sdk::Status list(sdk::Call& call) override { return isolation::list_sandboxes(call, *shared_); }
  sdk::Status destroy(sdk::Call& call, std::string_view id) override {
    return isolation::destroy_sandbox(call, *shared_, id);
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

class Box : public sdk::Sandbox,
            public isolation::SandboxFiles,
            public isolation::SandboxTerminals,
            public isolation::SandboxPause {
 public:
  Box(std::shared_ptr<Shared> shared, std::string id, isolation::Profile profile)
      : SandboxFiles(*shared, shared->file_workers, id),
        SandboxTerminals(*shared, id),
        SandboxPause(*shared, id),
        shared_(std::move(shared)), id_(std::move(id)), profile_(std::move(profile)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override;
  sdk::Status inspect(sdk::Call& call) override {
    return isolation::inspect_sandbox(call, *shared_, id_);
  }
  sdk::Status signal(sdk::Call&, std::string_view exec_id, int32_t number) override {
    return isolation::signal_commands(shared_->running, shared_->store, id_, exec_id, number);
  }

 private:
  sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> start_files(sdk::Call& call) override;

  const std::shared_ptr<Shared> shared_;
  const std::string id_;
  const isolation::Profile profile_;
};

}  // namespace process
