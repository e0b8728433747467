// A handle on one sandbox.
#pragma once

#include <bulkhead/sdk/isolation/pump.hpp>
#include <bulkhead/sdk/isolation/store.hpp>
#include <memory>
#include <set>
#include <string>

#include "prepare.h"

namespace bwrap {

// What the backend and the handles that it gave out share; outlives both.
struct Shared {
  Tools tools;
  std::string owner;
  isolation::Store store{""};
  isolation::RunningCommands running;

  isolation::Cgroup group(std::string_view id) const {
    return isolation::Cgroup(tools.cgroups, "bulkhead-" + owner + "-" + std::string(id));
  }
  std::string own_folder(std::string_view id, const char* name) const;
};

// What create() settled, kept as ID/facts.
struct Facts {
  Ids ids = Ids::kOwn;
  std::set<std::string> absent;
  std::string print() const;
  static sdk::Result<Facts> parse(std::string_view text);
};

class Box : public sdk::Sandbox {
 public:
  Box(std::shared_ptr<Shared> shared, std::string id, std::string profile, Facts facts)
      : shared_(std::move(shared)),
        id_(std::move(id)),
        profile_(std::move(profile)),
        facts_(std::move(facts)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override;
  sdk::Status inspect(sdk::Call& call) override;
  sdk::Status signal(sdk::Call& call, std::string_view exec_id, int32_t number) override;

 private:
  sdk::Status run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out);

  const std::shared_ptr<Shared> shared_;
  const std::string id_, profile_;
  const Facts facts_;
};

}  // namespace bwrap
