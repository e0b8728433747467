// Walls and limits that the report claims and nobody built.
#include <bulkhead/sdk/json.hpp>

#include "fault.h"

namespace broken {

namespace {

namespace json = bulkhead::sdk::json;

// Every rule of the profile and every guarantee that there is: enforced, says the report.
bh_status claims(void* self, bh_call* call, const char* id, size_t id_size, const char* profile,
                 size_t size, void** out) {
  Bent bent(call);
  bent.result = [&](std::string_view text) {
    std::string all = replaced(std::string(text), "\"unsupported\"", "\"enforced\"");
    all = replaced(all, "\"partial\"", "\"enforced\"");
    std::string more;
    for (const char* rule : {"nested_users", "ipc", "abstract_sockets"}) {
      more +=
          std::string(R"({"rule":"isolation.)") + rule + R"(","status":"enforced","by":"word"},)";
    }
    return bent.pass_result(replaced(all, "\"rules\":[", "\"rules\":[" + more));
  };
  return good().create(self, bent.raw(), id, id_size, profile, size, out);
}

// The same, and the key itself is never read: a report from the whole profile, a sandbox from the
// rest.
template <const char* key>
bh_status drops(void* self, bh_call* call, const char* id, size_t id_size, const char* profile,
                size_t size, void** out) {
  std::string report;
  Bent plan(call);
  plan.result = [&](std::string_view text) {
    report = replaced(std::string(text), "\"unsupported\"", "\"enforced\"");
    report = replaced(report, "\"partial\"", "\"enforced\"");
    return bh_status{BH_OK};
  };
  const bh_status st = good().plan(self, plan.raw(), profile, size);
  if (st != BH_OK) return st;
  Bent bent(call);
  bent.result = [&](std::string_view) { return bent.pass_result(report); };
  const std::string rest = without({profile, size}, key);
  return good().create(self, bent.raw(), id, id_size, rest.data(), rest.size(), out);
}

constexpr char kLimits[] = "limits", kEnv[] = "env", kHome[] = "home", kWorkspace[] = "workspace";

// Limits of one command are not read either.
bh_status no_options(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  bh_exec bare = *what;
  bare.options = {"{}", 2};
  return good().exec(box, call, &bare, out);
}

}  // namespace

std::vector<Fault> walls() {
  return {
      {"claims-walls", [](bh_isolation& t) { t.create = &claims; }},
      {"drops-limits", [](bh_isolation& t) { t.create = &drops<kLimits>; }},
      {"drops-env", [](bh_isolation& t) { t.create = &drops<kEnv>; }},
      {"drops-home", [](bh_isolation& t) { t.create = &drops<kHome>; }},
      {"drops-workspace", [](bh_isolation& t) { t.create = &drops<kWorkspace>; }},
      {"drops-options", [](bh_isolation& t) { t.exec = &no_options; }},
  };
}

}  // namespace broken
