#include "backend.h"

namespace {

constexpr char kConfig[] = R"({"type":"object","additionalProperties":false,"properties":{
  "bwrap":{"type":"string","description":"Absolute path to bubblewrap's program."}}})";

constexpr char kCapabilities[] = R"({"files":["rw","ro","hide"],
  "network":["off","unrestricted"],"limits":["cpu","memory_bytes","pids","disk_bytes","wall_ms",
  "output_bytes","open_files"],"root":["host"],"persistent":true})";

// abi/schemas/isolation_profile.json without images and snapshots.
constexpr char kProfile[] = R"({"type":"object","additionalProperties":false,"properties":{
  "root":{"type":"object","additionalProperties":false,"properties":{"view":{"enum":["host"]}}},
  "workspace":{"type":"object","additionalProperties":false,"required":["source"],"properties":{
    "source":{"type":"string"},"path":{"type":"string"},"access":{"enum":["rw","ro"]}}},
  "home":{"type":"object","additionalProperties":false,"required":["source"],"properties":{
    "source":{"type":"string"},"path":{"type":"string"}}},
  "tmp":{"type":"object","additionalProperties":false,"required":["source"],"properties":{
    "source":{"type":"string"}}},
  "files":{"type":"array","items":{"type":"object","additionalProperties":false,
    "required":["path","access"],"properties":{
    "path":{"type":"string"},"access":{"enum":["rw","ro","hide"]}}}},
  "mounts":{"type":"array","items":{"type":"object","additionalProperties":false,
    "required":["source","path"],"properties":{
    "source":{"type":"string"},"path":{"type":"string"},"access":{"enum":["rw","ro"]}}}},
  "network":{"type":"object","additionalProperties":false,"required":["mode"],"properties":{
    "mode":{"enum":["off","limited","allowed_hosts","unrestricted"]},
    "allow":{"type":"array","items":{"type":"string"}}}},
  "limits":{"type":"object","additionalProperties":false,"properties":{
    "cpu":{"type":"number","exclusiveMinimum":0},
    "memory_bytes":{"type":"integer","minimum":1048576},
    "pids":{"type":"integer","minimum":1},"disk_bytes":{"type":"integer","minimum":0},
    "wall_ms":{"type":"integer","minimum":1},"output_bytes":{"type":"integer","minimum":0},
    "open_files":{"type":"integer","minimum":8}}},
  "env":{"type":"object","additionalProperties":false,"properties":{
    "allow":{"type":"array","items":{"type":"string"}},
    "set":{"type":"object","additionalProperties":{"type":"string"}}}},
  "user":{"type":"object","additionalProperties":false,"properties":{
    "uid":{"type":"integer","minimum":0,"maximum":65534},
    "gid":{"type":"integer","minimum":0,"maximum":65534},"name":{"type":"string"}}},
  "persona":{"type":"string"},
  "hide":{"type":"array","items":{"type":"string"}},
  "required":{"type":"array","items":{"type":"string"}}}})";

constexpr char kExec[] = R"({"type":"object","additionalProperties":false,"properties":{
  "cwd":{"type":"string"},
  "env":{"type":"object","additionalProperties":{"type":"string"}},
  "limits":{"type":"object","additionalProperties":false,"properties":{
    "cpu":{"type":"number","exclusiveMinimum":0},
    "memory_bytes":{"type":"integer","minimum":1048576},
    "pids":{"type":"integer","minimum":1},"disk_bytes":{"type":"integer","minimum":0},
    "wall_ms":{"type":"integer","minimum":1},"output_bytes":{"type":"integer","minimum":0},
    "open_files":{"type":"integer","minimum":8}}}}})";

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.isolation_bwrap", "Bubblewrap",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .isolation<bwrap::Backend>("bwrap", bulkhead::sdk::Provides()
                                                            .title("Bubblewrap sandboxes")
                                                            .config_schema(kConfig)
                                                            .capabilities(kCapabilities)
                                                            .profile_schema(kProfile)
                                                            .exec_schema(kExec)));
