// What the operator settled for one store.
#pragma once

#include <bulkhead/sdk.hpp>
#include <cstdint>
#include <string>

namespace filestore_dir {

namespace sdk = bulkhead::sdk;

inline constexpr char kConfigSchema[] = R"({"type":"object","additionalProperties":false,
  "properties":{
    "root":{"type":"string","minLength":1,"maxLength":4000,
      "description":"Absolute folder; made when only its last part is missing. Without it: store, in the provider's own folder below the data folder."},
    "max_bytes":{"type":"integer","minimum":1,"default":68719476736,
      "description":"All files together, running uploads included."},
    "max_file_bytes":{"type":"integer","minimum":1,"default":17179869184},
    "max_files":{"type":"integer","minimum":1,"default":1000000}}})";

struct Config {
  std::string root;
  int64_t max_bytes = int64_t{64} << 30;
  int64_t max_file_bytes = int64_t{16} << 30;
  int64_t max_files = 1'000'000;
};

// INVALID_ARGUMENT names the field and what would be right.
sdk::Result<Config> read_config(const sdk::Opening& how);

}  // namespace filestore_dir
