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

// The keys of a profile.
#define BULKHEAD_SDK_PROFILE_KEYS_ \
  R"("workspace":{"type":"object","additionalProperties":false,"required":["source"],"properties":{)" \
  R"("source":{"type":"string"},"path":{"type":"string"},"access":{"enum":["rw","ro"]}}},)" \
  R"("home":{"type":"object","additionalProperties":false,"required":["source"],"properties":{)" \
  R"("source":{"type":"string"},"path":{"type":"string"}}},)" \
  R"("tmp":{"type":"object","additionalProperties":false,"required":["source"],"properties":{)" \
  R"("source":{"type":"string"}}},)" \
  R"("files":{"type":"array","items":{"type":"object","additionalProperties":false,)" \
  R"("required":["path","access"],"properties":{)" \
  R"("path":{"type":"string"},"access":{"enum":["rw","ro","hide"]}}}},)" \
  R"("mounts":{"type":"array","items":{"type":"object","additionalProperties":false,)" \
  R"("required":["source","path"],"properties":{)" \
  R"("source":{"type":"string"},"path":{"type":"string"},"access":{"enum":["rw","ro"]}}}},)" \
  R"("network":{"type":"object","additionalProperties":false,"required":["mode"],"properties":{)" \
  R"("mode":{"enum":["off","limited","allowed_hosts","unrestricted"]},)" \
  R"("allow":{"type":"array","items":{"type":"string"}}}},)" \
  BULKHEAD_SDK_LIMITS_SCHEMA_ \
  R"(,)" \
  R"("env":{"type":"object","additionalProperties":false,"properties":{)" \
  R"("allow":{"type":"array","items":{"type":"string"}},)" \
  R"("set":{"type":"object","additionalProperties":{"type":"string"}}}},)" \
  R"("user":{"type":"object","additionalProperties":false,"properties":{)" \
  R"("uid":{"type":"integer","minimum":0,"maximum":65534},)" \
  R"("gid":{"type":"integer","minimum":0,"maximum":65534},"name":{"type":"string"}}},)" \
  R"("persona":{"type":"string"},)" \
  R"("hide":{"type":"array","items":{"type":"string"}},)" \
  R"("required":{"type":"array","items":{"type":"string"}})"

namespace bulkhead::sdk::isolation {

// The profile, where root.view is "host".
inline constexpr char kHostProfileSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{
  "root":{"type":"object","additionalProperties":false,"properties":{"view":{"enum":["host"]}}},
)" BULKHEAD_SDK_PROFILE_KEYS_ R"(}})";

// The same for a backend that starts from images too, whose commands can share their processes, and
// where somebody can install packages.
inline constexpr char kImageProfileSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{
  "root":{"type":"object","additionalProperties":false,"properties":{
    "view":{"enum":["host"]},"image":{"type":"string"}}},
  "processes":{"enum":["command","sandbox"]},
  "capabilities":{"enum":["none","packages"]},
)" BULKHEAD_SDK_PROFILE_KEYS_ R"(}})";

// The options of one command.
inline constexpr char kExecSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{
  "cwd":{"type":"string"},
  "env":{"type":"object","additionalProperties":{"type":"string"}},
  "tty":{"type":"object","additionalProperties":false,"properties":{
    "rows":{"type":"integer","minimum":1},"cols":{"type":"integer","minimum":1},
    "term":{"type":"string"}}},
)" BULKHEAD_SDK_LIMITS_SCHEMA_ R"(}})";

#undef BULKHEAD_SDK_LIMITS_SCHEMA_
#undef BULKHEAD_SDK_PROFILE_KEYS_

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SCHEMA_HPP
