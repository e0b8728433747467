// The bubblewrap that is installed here, and what it can do: found by asking it, not by its
// version.
#pragma once

#include <bulkhead/sdk.hpp>
#include <set>
#include <string>

namespace bwrap {

namespace sdk = bulkhead::sdk;

struct Features {
  std::string program;  // absolute
  std::string version;
  std::set<std::string> options;  // "--bind-fd", ...
  bool has(const std::string& option) const { return options.count(option) != 0; }
};

// Where it lies. `configured` is the operator's absolute path, or empty: then the standard places.
sdk::Result<std::string> find_program(const std::string& configured);

// Asks it. Runs it twice.
sdk::Result<Features> find_features(const std::string& program);

}  // namespace bwrap
