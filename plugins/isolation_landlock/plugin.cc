#include <bulkhead/sdk/isolation/schema.hpp>

#include "backend.h"

using bulkhead::sdk::isolation::kExecSchema;
using bulkhead::sdk::isolation::kHostProfileSchema;

namespace {

constexpr char kConfig[] = R"({"type":"object","additionalProperties":false,"properties":{
  "version":{"type":"integer","minimum":1,"maximum":1000,"description":
  "Use no newer Landlock than that: what sandboxes are on an older kernel."}}})";

constexpr char kCapabilities[] = R"({"files":["rw","ro","hide"],
  "network":["off","unrestricted"],"limits":["cpu","memory_bytes","pids","disk_bytes","wall_ms",
  "output_bytes","open_files"],"root":["host"],"persistent":true,
  "extensions":["bh.isolation.files/1","bh.isolation.pty/1","bh.isolation.pause/1"]})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.isolation_landlock", "Landlock",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .isolation<landlocked::Backend>("landlock",
                                                    bulkhead::sdk::Provides()
                                                        .title("Sandboxes without namespaces")
                                                        .config_schema(kConfig)
                                                        .capabilities(kCapabilities)
                                                        .profile_schema(kHostProfileSchema)
                                                        .exec_schema(kExecSchema)));
