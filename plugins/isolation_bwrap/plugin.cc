#include <bulkhead/sdk/isolation/schema.hpp>

#include "backend.h"

using bulkhead::sdk::isolation::kExecSchema;
using bulkhead::sdk::isolation::kHostProfileSchema;

namespace {

constexpr char kConfig[] = R"({"type":"object","additionalProperties":false,"properties":{
  "bwrap":{"type":"string","description":"Absolute path to bubblewrap's program."}}})";

constexpr char kCapabilities[] = R"({"strength":"namespaces","files":["rw","ro","hide"],
  "network":["off","unrestricted"],"limits":["cpu","memory_bytes","pids","disk_bytes","wall_ms",
  "output_bytes","open_files"],"root":["host"],"persistent":true,
  "extensions":["bh.isolation.files/1","bh.isolation.pty/1","bh.isolation.pause/1"]})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.isolation_bwrap", "Bubblewrap",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .isolation<bwrap::Backend>("bwrap", bulkhead::sdk::Provides()
                                                            .title("Bubblewrap sandboxes")
                                                            .config_schema(kConfig)
                                                            .capabilities(kCapabilities)
                                                            .profile_schema(kHostProfileSchema)
                                                            .exec_schema(kExecSchema)));
