// Faults of the report: missing, without reasons, or stronger than what is done.
#include <bulkhead/sdk/json.hpp>

#include "fault.h"

namespace broken {

namespace {

namespace json = bulkhead::sdk::json;

using Edit = std::string (*)(std::string_view);

// create() with the report as `edit` leaves it; empty: no report.
template <Edit edit>
bh_status create(void* self, bh_call* call, const char* id, size_t id_size, const char* profile,
                 size_t size, void** out) {
  Bent bent(call);
  bent.result = [&](std::string_view text) {
    const std::string changed = edit(text);
    return changed.empty() ? bh_status{BH_OK} : bent.pass_result(changed);
  };
  return good().create(self, bent.raw(), id, id_size, profile, size, out);
}
template <Edit edit>
bh_status plan(void* self, bh_call* call, const char* profile, size_t size) {
  Bent bent(call);
  bent.result = [&](std::string_view text) { return bent.pass_result(edit(text)); };
  return good().plan(self, bent.raw(), profile, size);
}

std::string none(std::string_view) { return {}; }
std::string all_enforced(std::string_view text) {
  std::string out = replaced(std::string(text), "\"unsupported\"", "\"enforced\"");
  return replaced(out, "\"partial\"", "\"enforced\"");
}
std::string no_reasons(std::string_view text) {
  return replaced(std::string(text), "\"reason\"", "\"because\"");
}
std::string odd_status(std::string_view text) {
  return replaced(std::string(text), "\"unsupported\"", "\"perhaps\"");
}
std::string no_limits(std::string_view text) {
  return replaced(std::string(text), "\"limits.", "\"limit-");
}
std::string more(std::string_view text) {
  return replaced(
      std::string(text), "\"rules\":[",
      R"("rules":[{"rule":"limits.pids","status":"enforced"},{"rule":"contract_unknown.wall",)"
      R"("status":"enforced"},{"rule":"isolation.other","status":"enforced"},)");
}

// `required` is read by nobody.
bh_status lenient(void* self, bh_call* call, const char* id, size_t id_size, const char* profile,
                  size_t size, void** out) {
  const std::string rest = without({profile, size}, "required");
  return good().create(self, call, id, id_size, rest.data(), rest.size(), out);
}

bh_status find_differs(void* self, bh_call* call, const char* id, size_t size, void** out) {
  Bent bent(call);
  bent.result = [&](std::string_view text) { return bent.pass_result(all_enforced(text)); };
  return good().find(self, bent.raw(), id, size, out);
}
bh_status plan_makes(void* self, bh_call* call, const char* profile, size_t size) {
  void* box = nullptr;
  const bh_status st = good().create(self, call, "planned", 7, profile, size, &box);
  if (st == BH_OK) good().release(box);
  return st;
}

}  // namespace

std::vector<Fault> reports() {
  return {
      {"no-report", [](bh_isolation& t) { t.create = &create<&none>; }},
      {"no-reasons", [](bh_isolation& t) { t.create = &create<&no_reasons>; }},
      {"odd-status", [](bh_isolation& t) { t.create = &create<&odd_status>; }},
      {"no-limit-lines", [](bh_isolation& t) { t.create = &create<&no_limits>; }},
      {"claims-more", [](bh_isolation& t) { t.create = &create<&more>; }},
      {"plan-stronger", [](bh_isolation& t) { t.plan = &plan<&all_enforced>; }},
      {"plan-makes", [](bh_isolation& t) { t.plan = &plan_makes; }},
      {"find-differs", [](bh_isolation& t) { t.find = &find_differs; }},
      {"required-ignored", [](bh_isolation& t) { t.create = &lenient; }},
  };
}

}  // namespace broken
