// What is left behind by processes that died, and how removed folders go.
#pragma once

#include "place.h"

namespace filestore_dir {

// Uploads whose makers are dead. Under the Lock: a maker locks its file under it.
sdk::Status sweep_uploads(const Place& place);
// Bytes of the uploads that are on their way, of all processes, and how many. Under the Lock.
struct Uploads {
  int64_t bytes = 0;
  int64_t files = 0;
};
sdk::Result<Uploads> count_uploads(const Place& place);

// Folders that remove() moved out of the tree, at any depth and with few descriptors. Without the
// Lock. Cancelled: the rest goes with the next sweep.
sdk::Status sweep_folders(sdk::Call& call, const Place& place);

// Media types (types/) whose files are gone. Under the Lock.
sdk::Status sweep_types(sdk::Call& call, const Place& place);

// A name that nothing in tmp/ has.
std::string fresh_name(const char* prefix);

}  // namespace filestore_dir
