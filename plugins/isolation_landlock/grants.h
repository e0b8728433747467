// From what a view settled, place by place, to what Landlock can be told. It knows no "but not
// that": a rule reaches all that lies beneath its folder. So where something less lies in a folder,
// what lies beside that is allowed one by one, and the folder itself keeps what it can.
#pragma once

#include <bulkhead/sdk/isolation/view.hpp>
#include <bulkhead/sdk/isolation/view_gather.hpp>
#include <string>
#include <vector>

#include "launch/wall.h"

namespace landlocked {

namespace sdk = bulkhead::sdk;

struct Grants {
  std::vector<Grant> list;
  // Folders that hold something hidden: they cannot be listed. Of those beneath sources too.
  std::vector<std::string> unlisted;
  // Writable folders that hold something which is not: nothing new can be made right in them.
  std::vector<std::string> closed;
  bool cut = false;  // there was more than kMostGrants
};

constexpr size_t kMostGrants = 16384;

// `gathered` has run for `view`, with every source at its own path. Looks at the folders that must
// be told one by one. [blocking]
Grants make_grants(const isolation::Gather& gathered, const isolation::View& view);

}  // namespace landlocked
