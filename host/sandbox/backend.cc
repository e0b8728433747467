#include "sandbox/backend.h"

namespace bh {

Backend::Backend(const Provider& provider, const bh_host* host, void* self)
    : provider_(provider), table_(provider.isolation()), host_(host), self_(self) {}

Backend::~Backend() { provider_.ops.close(self_); }

Result<json::object> Backend::report_of(Result<std::string> result, const char* function) const {
  if (!result) return tl::unexpected(std::move(result).error());
  auto report = json::parse_object(*result);
  if (!report || json::get_array(*report, "rules") == nullptr) {
    // No report, no sandbox: nobody could say what holds.
    return fail(BH_INTERNAL, who(function) + " gave no enforcement report", "no_report");
  }
  return report;
}

Result<json::object> Backend::plan(Call& up, const std::string& profile) const {
  NullSink nowhere;
  NoInput none;
  return report_of(drive(up, host_, who("plan"), nowhere, none,
                         [&](bh_call* call) {
                           return table_.plan(self_, call, profile.data(), profile.size());
                         }),
                   "plan");
}

Result<json::object> Backend::create(Call& up, const std::string& id, const std::string& profile,
                                     void** handle) const {
  PassSink progress(up);
  NoInput none;
  void* made = nullptr;
  auto told = drive(up, host_, who("create"), progress, none, [&](bh_call* call) {
    return table_.create(self_, call, id.data(), id.size(), profile.data(), profile.size(), &made);
  });
  // What it wrote there before it failed is no handle.
  if (told) *handle = made;
  return report_of(std::move(told), "create");
}

Result<json::object> Backend::find(Call& up, const std::string& id, void** handle) const {
  NullSink nowhere;
  NoInput none;
  void* found = nullptr;
  auto told = drive(up, host_, who("find"), nowhere, none, [&](bh_call* call) {
    return table_.find(self_, call, id.data(), id.size(), &found);
  });
  if (told) *handle = found;
  return report_of(std::move(told), "find");
}

Result<void> Backend::destroy(Call& up, const std::string& id) const {
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, host_, who("destroy"), nowhere, none, [&](bh_call* call) {
    return table_.destroy(self_, call, id.data(), id.size());
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

}  // namespace bh
