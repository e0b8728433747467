#include <bulkhead/sdk/isolation/schema.hpp>

#include "backend.h"

using bulkhead::sdk::isolation::kExecSchema;
using bulkhead::sdk::isolation::kImageProfileSchema;

namespace {

constexpr char kConfig[] = R"({"type":"object","additionalProperties":false,"properties":{}})";

constexpr char kCapabilities[] = R"({"strength":"namespaces","files":["rw","ro","hide"],
  "network":["off","unrestricted"],"limits":["cpu","memory_bytes","pids","disk_bytes","wall_ms",
  "output_bytes","open_files"],"root":["host","image"],"persistent":true,
  "extensions":["bh.isolation.files/1","bh.isolation.pty/1","bh.isolation.pause/1","bh.isolation.ports/1"]})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.isolation_ns", "Namespaces",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .isolation<ns::Backend>("ns", bulkhead::sdk::Provides()
                                                      .title("Namespaces, by the kernel alone")
                                                      .config_schema(kConfig)
                                                      .capabilities(kCapabilities)
                                                      .profile_schema(kImageProfileSchema)
                                                      .exec_schema(kExecSchema)));
