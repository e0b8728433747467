// The file store. Functions come from any thread, beside each other, and beside those of other
// processes on the same folder.
#pragma once

#include "place.h"

namespace filestore_dir {

class Store : public sdk::FileStore {
 public:
  explicit Store(std::unique_ptr<Place> place) : place_(std::move(place)) {}
  static sdk::Status probe(sdk::Call& call, const sdk::Opening& how);
  static sdk::Result<std::unique_ptr<Store>> open(sdk::Call& call, const sdk::Opening& how);

  sdk::Status stat(sdk::Call& call, std::string_view path, const sdk::EachFile& each) override;
  sdk::Status list(sdk::Call& call, std::string_view path, bool recursive, std::string_view after,
                   const sdk::EachFile& each) override;
  sdk::Status read(sdk::Call& call, std::string_view path, int64_t offset, int64_t size) override;
  sdk::Status write(sdk::Call& call, std::string_view path, const sdk::FileWrite& what) override;
  sdk::Status remove(sdk::Call& call, std::string_view path, bool recursive) override;

 private:
  std::unique_ptr<Place> place_;
};

// Removes the folder `path` and those above it, as long as they are empty. Under the Lock.
void prune(const Place& place, std::string path);

}  // namespace filestore_dir
