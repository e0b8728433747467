#include "sandbox/shape_key.h"

#include "loader/digest.h"

namespace bh {

std::string shape_key(const std::string& persona, const std::string& backend,
                      const json::object& profile) {
  return sha256_of(persona + '\n' + backend + '\n' + json::print(profile)).substr(0, 32);
}

}  // namespace bh
