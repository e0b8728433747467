// Folders, read name by name.
#pragma once

#include <functional>

#include "place.h"

namespace filestore_dir {

// Each name of an opened folder with its d_type, in no order, without . and ..; false from `each`
// ends it. False with errno where the folder cannot be read.
bool each_name(int folder, const std::function<bool(const char*, unsigned char)>& each);

// list(): by name, bytewise, behind `after`. Of a folder of any size it holds 16,384 names at most,
// and reads the folder again for the next ones.
class Listing {
 public:
  Listing(sdk::Call& call, const Place& place, bool recursive, const sdk::EachFile& each)
      : call_(call), place_(place), recursive_(recursive), each_(each) {}
  // `prefix` stands before the names, with its '/'.
  sdk::Status run(int folder, const std::string& prefix, std::string_view after, int depth);

 private:
  struct Batch;
  sdk::Status collect(int folder, const std::string& after, bool into, Batch& out);
  sdk::Status show(int folder, const std::string& prefix, const std::string& name);

  sdk::Call& call_;
  const Place& place_;
  bool recursive_;
  const sdk::EachFile& each_;
};

}  // namespace filestore_dir
