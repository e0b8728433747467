// The provider `bwrap`, opened.
#pragma once

#include <bulkhead/sdk.hpp>
#include <memory>

#include "box.h"

namespace bwrap {

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
  sdk::Status list(sdk::Call& call) override;
  sdk::Status destroy(sdk::Call& call, std::string_view id) override;

 private:
  const std::shared_ptr<Shared> shared_;
};

}  // namespace bwrap
