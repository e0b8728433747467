// Optional tables whose functions say BH_OK and do nothing, and files that are not what they seem.
#include <bulkhead/isolation_files.h>
#include <bulkhead/isolation_images.h>
#include <bulkhead/isolation_jobs.h>
#include <bulkhead/isolation_state.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "fault.h"

namespace broken {

namespace {

bh_status nothing(void*, bh_call*) { return BH_OK; }
bh_status take_all(void*, bh_call* call, const char*, size_t, const char*, size_t) {
  char buffer[4096];
  size_t got = 1;
  while (got != 0 && call->api->receive(call, buffer, sizeof buffer, &got) == BH_OK) {
  }
  return BH_OK;
}
bh_status drop(void*, bh_call*, const char*, size_t) { return BH_OK; }
bh_status take(void*, bh_call* call, const char*, size_t, const char*, size_t) {
  return call->api->result(call, R"({"size":0})", 10);
}

const void* hollow(const char* id) {
  static const bh_isolation_pty pty = {
      sizeof pty, BH_ABI_MINOR,
      [](void*, bh_call*, const char*, size_t, uint32_t, uint32_t) { return bh_status{BH_OK}; }};
  static const bh_isolation_pause pause = {sizeof pause, BH_ABI_MINOR, &nothing, &nothing};
  static const bh_isolation_update update = {
      sizeof update, BH_ABI_MINOR, [](void*, bh_call* call, const char*, size_t) {
        return call->api->result(call, R"({"rules":[]})", 12);
      }};
  static const bh_isolation_ports ports = {sizeof ports, BH_ABI_MINOR,
                                           [](void*, bh_call*, uint32_t, bh_fd* out) {
                                             *out = ::open("/dev/null", O_RDWR);
                                             return bh_status{BH_OK};
                                           }};
  static const bh_isolation_jobs jobs = {
      sizeof jobs,
      BH_ABI_MINOR,
      [](void*, bh_call*, const bh_exec*) { return bh_status{BH_OK}; },
      [](void*, bh_call* call, const char*, size_t, int64_t, uint32_t, bh_exit*) {
        return call->api->result(call, R"({"next":0,"skipped":0,"running":true})", 37);
      },
      &nothing,
      &drop};
  static const bh_isolation_images images = {sizeof images, BH_ABI_MINOR, &take_all,
                                             &take_all,     &nothing,     &drop};
  static const bh_isolation_snapshots snapshots = {sizeof snapshots, BH_ABI_MINOR, &take, &nothing,
                                                   &drop};
  const std::string_view name = id;
  if (name == BH_ISOLATION_PTY) return &pty;
  if (name == BH_ISOLATION_PAUSE) return &pause;
  if (name == BH_ISOLATION_UPDATE) return &update;
  if (name == BH_ISOLATION_PORTS) return &ports;
  if (name == BH_ISOLATION_JOBS) return &jobs;
  if (name == BH_ISOLATION_IMAGES) return &images;
  if (name == BH_ISOLATION_SNAPSHOTS) return &snapshots;
  return good().get_extension(id);
}

const bh_isolation_files& good_files() {
  return *static_cast<const bh_isolation_files*>(good().get_extension(BH_ISOLATION_FILES));
}

// Writes what is not NUL-terminated text only as far as the first NUL, at any path, and to the end.
const void* careless(const char* id) {
  static bh_isolation_files table = [] {
    bh_isolation_files t = good_files();
    t.write = [](void* box, bh_call* call, const char* path, size_t size, uint32_t flags,
                 const bh_file_access* access, const void* data, size_t bytes) {
      const size_t kept = data != nullptr ? ::strnlen(static_cast<const char*>(data), bytes) : 0;
      return good_files().write(box, call, path, size, flags & ~(BH_FILE_NEW | BH_FILE_INPUT),
                                access, data != nullptr ? data : "", kept);
    };
    t.list = [](void*, bh_call*, const char*, size_t, uint32_t, bh_file_fn, void*) {
      return bh_status{BH_OK};
    };
    t.stat = [](void* box, bh_call* call, const char* path, size_t size, uint32_t flags,
                bh_file_fn each, void* ctx) {
      if (size == 0 || path[0] != '/') return bh_status{BH_OK};
      return good_files().stat(box, call, path, size, flags, each, ctx);
    };
    return t;
  }();
  return std::string_view(id) == BH_ISOLATION_FILES ? &table : good().get_extension(id);
}

bh_status claims_workspace(void* self, bh_call* call, const char* id, size_t id_size,
                           const char* profile, size_t size, void** out) {
  Bent bent(call);
  bent.result = [&](std::string_view text) {
    return bent.pass_result(replaced(std::string(text), "\"partial\"", "\"enforced\""));
  };
  return good().create(self, bent.raw(), id, id_size, profile, size, out);
}

const void* anything(const char*) { return &good_files(); }

constexpr char kOpen[] = R"({"type":"object","properties":{"walls":{"type":"integer"}}})";
constexpr char kImages[] =
    R"({"type":"object","additionalProperties":false,"properties":{
      "root":{"type":"object","properties":{"image":{"type":"string"},"snapshot":{"type":"string"}}},
      "workspace":{"type":"object","properties":{"source":{"type":"string"}}},
      "env":{"type":"object","properties":{"set":{"type":"object"}}}}})";
constexpr char kTty[] =
    R"({"type":"object","additionalProperties":false,"properties":{"tty":{"type":"object"}}})";

}  // namespace

std::vector<Fault> tables() {
  return {
      {"hollow-tables",
       [](bh_isolation& t) {
         t.get_extension = &hollow;
         t.profile_schema = kImages;
         t.exec_schema = kTty;
       }},
      {"careless-files", [](bh_isolation& t) { t.get_extension = &careless; }},
      {"files-lead-out", [](bh_isolation& t) { t.create = &claims_workspace; },
       [](bh_provider& p) { p.capabilities = "{}"; }},
      {"gives-anything", [](bh_isolation& t) { t.get_extension = &anything; }},
      {"two-lines", [](bh_isolation&) {},
       [](bh_provider& p) { p.title = "A title\nof two lines"; }},
      {"open-schema", [](bh_isolation& t) { t.profile_schema = kOpen; }},
  };
}

}  // namespace broken
