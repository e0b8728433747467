// What the operator settled about images: the member "images" of the configuration.
#pragma once

#include <cstdint>

namespace bh {

struct ImagesSettings {
  std::int64_t max_bytes = 0;  // of one persona's images together, and of the shared ones; 0: no limit
};

}  // namespace bh
