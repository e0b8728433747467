// A file store in memory, for tests; also one whose files are made of nothing: "…/zeros-N" reads as
// N bytes, and what is written to "…/void" is counted and dropped.
#pragma once

#include <bulkhead/sdk.hpp>

namespace obedient {

bulkhead::sdk::Provides memory_store();

class MemoryStore : public bulkhead::sdk::FileStore {
 public:
  explicit MemoryStore(const bulkhead::sdk::Opening& how);
  ~MemoryStore() override;
  static bulkhead::sdk::Result<std::unique_ptr<MemoryStore>> open(
      bulkhead::sdk::Call& call, const bulkhead::sdk::Opening& how);

  bulkhead::sdk::Status stat(bulkhead::sdk::Call& call, std::string_view path,
                             const bulkhead::sdk::EachFile& each) override;
  bulkhead::sdk::Status list(bulkhead::sdk::Call& call, std::string_view path, bool recursive,
                             std::string_view after, const bulkhead::sdk::EachFile& each) override;
  bulkhead::sdk::Status read(bulkhead::sdk::Call& call, std::string_view path, int64_t offset,
                             int64_t size) override;
  bulkhead::sdk::Status write(bulkhead::sdk::Call& call, std::string_view path,
                              const bulkhead::sdk::FileWrite& what) override;
  bulkhead::sdk::Status remove(bulkhead::sdk::Call& call, std::string_view path,
                               bool recursive) override;

 private:
  struct Inside;
  std::unique_ptr<Inside> in_;
};

}  // namespace obedient
