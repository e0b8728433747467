#include "store.h"

namespace {

// plugin.json says the same. A folder of the store is mounted by nobody: a sandbox that wrote into
// it would pass by quota and etags.
constexpr char kCapabilities[] = R"({"etag":true,"atomic_write":true,"ranges":true,
  "folders":false,"mountable":false,"remote":false,"max_path_bytes":4095})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.filestore_dir", "Files in a folder",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .filestore<filestore_dir::Store>("dir",
                                                     bulkhead::sdk::Provides()
                                                         .title("A folder of this machine")
                                                         .config_schema(filestore_dir::kConfigSchema)
                                                         .capabilities(kCapabilities)));
