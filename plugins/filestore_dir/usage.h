// What the tree holds, as a record beside it: counting a million files for each write would take
// seconds. It is marked while a change is on its way, so what a crash left is counted anew by
// whoever comes next.
#pragma once

#include "place.h"

namespace filestore_dir {

// Read, used and written under the store's Lock.
class Usage {
 public:
  // As it is recorded; counted where a change was cut off.
  static sdk::Result<Usage> read(sdk::Call& call, const Place& place);
  // Walks the tree. Cancelled: the record stays marked.
  static sdk::Status recount(sdk::Call& call, const Place& place);

  // Before a change begins, and when it is done.
  sdk::Status begin(const Place& place) const { return write(place, true); }
  sdk::Status finish(const Place& place) const { return write(place, false); }
  // A time that no other write of this store has, now or a little later: the file's etag.
  int64_t next_version();

  int64_t bytes = 0;
  int64_t files = 0;

 private:
  sdk::Status write(const Place& place, bool changing) const;
  int64_t last_version_ = 0;
};

// What lies in a folder, at any depth.
struct Count {
  int64_t bytes = 0;
  int64_t files = 0;
};
sdk::Result<Count> count_tree(sdk::Call& call, int folder);

}  // namespace filestore_dir
