#include <bulkhead/sdk/isolation/schema.hpp>

#include "backend.h"

using bulkhead::sdk::isolation::kExecSchema;
using bulkhead::sdk::isolation::kHostProfileSchema;

namespace {

constexpr char kConfig[] = R"({"type":"object","additionalProperties":false})";

constexpr char kCapabilities[] = R"({"strength":"none","isolates":false,"network":["unrestricted"],
  "limits":["cpu","memory_bytes","pids","disk_bytes","wall_ms","output_bytes","open_files"],
  "persistent":true,"extensions":["bh.isolation.files/1","bh.isolation.pty/1","bh.isolation.pause/1"]})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.isolation_process", "Processes",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .isolation<process::Backend>("process", bulkhead::sdk::Provides()
                                                                .title("No isolation")
                                                                .config_schema(kConfig)
                                                                .capabilities(kCapabilities)
                                                                .profile_schema(kHostProfileSchema)
                                                                .exec_schema(kExecSchema)));
