// bulkhead/sdk/isolation/schema.hpp - the profile and exec schemas of a backend that shows the
// host's own files: what profile.hpp reads, and abi/schemas/isolation_profile.json without images and
// snapshots. A backend that isolates less answers in its report, not by a narrower schema.
#ifndef BULKHEAD_SDK_ISOLATION_SCHEMA_HPP
#define BULKHEAD_SDK_ISOLATION_SCHEMA_HPP

// The limits are part of both, and literals are joined by the compiler alone.
#define BULKHEAD_SDK_LIMITS_SCHEMA_ \
  R"("limits":{"type":"object","additionalProperties":false,"properties":{)" \
  R"("cpu":{"type":"number","exclusiveMinimum":0},)" \
  R"("memory_bytes":{"type":"integer","minimum":1048576},)" \
  R"("pids":{"type":"integer","minimum":1},"disk_bytes":{"type":"integer","minimum":0},)" \
  R"("wall_ms":{"type":"integer","minimum":1},"output_bytes":{"type":"integer","minimum":0},)" \
  R"("open_files":{"type":"integer","minimum":8}}})"

namespace bulkhead::sdk::isolation {

// The profile, where root.view is "host".
inline constexpr char kHostProfileSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{
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
)" BULKHEAD_SDK_LIMITS_SCHEMA_ R"(,
  "env":{"type":"object","additionalProperties":false,"properties":{
    "allow":{"type":"array","items":{"type":"string"}},
    "set":{"type":"object","additionalProperties":{"type":"string"}}}},
  "user":{"type":"object","additionalProperties":false,"properties":{
    "uid":{"type":"integer","minimum":0,"maximum":65534},
    "gid":{"type":"integer","minimum":0,"maximum":65534},"name":{"type":"string"}}},
  "persona":{"type":"string"},
  "hide":{"type":"array","items":{"type":"string"}},
  "required":{"type":"array","items":{"type":"string"}}}})";

// The options of one command.
inline constexpr char kExecSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{
  "cwd":{"type":"string"},
  "env":{"type":"object","additionalProperties":{"type":"string"}},
)" BULKHEAD_SDK_LIMITS_SCHEMA_ R"(}})";

#undef BULKHEAD_SDK_LIMITS_SCHEMA_

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SCHEMA_HPP
