// What the operator settled about the file store: the member "files" of the configuration.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"

namespace bh {

struct FilesSettings {
  std::string store;                           // a provider's id; empty: kDefaultStore
  std::map<std::string, json::object> config;  // by provider id
  std::int64_t max_bytes = 0;                  // of one persona's files together; 0: no limit here
};

inline constexpr char kDefaultStore[] = "dir";

}  // namespace bh
