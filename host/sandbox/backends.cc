#include "sandbox/backends.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"
#include "loader/opening.h"

namespace bh {
namespace {

// In this order, where the operator names none. "process" isolates nothing and is never in it.
constexpr const char* kPreference[] = {"ns", "bwrap", "landlock"};
constexpr const char kUnisolated[] = "process";
constexpr const char kFolder[] = "backends";
// What keeps a backend from working does not change by itself from one call to the next.
constexpr std::int64_t kRefusalNs = 30'000'000'000;

}  // namespace

Backends::Backends(const DataRoot& root, const SandboxSettings& settings, Find find, Names names,
                   HostOf host_of)
    : root_(root), settings_(settings), find_(std::move(find)), names_(std::move(names)),
      host_of_(std::move(host_of)) {}

Result<std::vector<std::string>> Backends::candidates(const std::string& wished) const {
  if (!wished.empty() && wished == kUnisolated && !settings_.allow_unisolated) {
    return fail(BH_PERMISSION_DENIED,
                "the backend \"process\" isolates nothing and is not permitted here",
                "backend_not_permitted",
                {{"field", "/backend"},
                 {"backend", wished},
                 {"remedy", "the operator permits it with \"isolation\": {\"allow_unisolated\": true} in "
                            "the configuration"}});
  }
  if (!wished.empty()) return std::vector<std::string>{wished};
  if (!settings_.backend.empty()) {
    if (settings_.backend == kUnisolated) {
      return fail(BH_PERMISSION_DENIED,
                  "\"process\" isolates nothing and cannot be the default; name it in the call",
                  "backend_not_permitted", {{"field", "/isolation/backend"}});
    }
    return std::vector<std::string>{settings_.backend};
  }
  const std::vector<std::string> there = names_();
  std::vector<std::string> out;
  for (const char* name : kPreference) {
    if (std::find(there.begin(), there.end(), name) != there.end()) out.emplace_back(name);
  }
  if (!out.empty()) return out;
  return fail(BH_UNAVAILABLE,
              "no isolation backend is installed", "backend_unavailable",
              {{"remedy", "plugin.list says where they were looked for"}});
}

Result<std::string> Backends::probed(Call& up, const Provider& provider) {
  auto opening = Opening::make(provider, settings_.backend_config, root_, kFolder);
  if (!opening) return tl::unexpected(std::move(opening).error());
  const bh_opening how = opening->view();
  NullSink nowhere;
  NoInput none;
  return drive(up, host_of_(provider.plugin), provider.plugin + ", probe", nowhere, none,
               [&](bh_call* call) { return provider.ops.probe(call, &how); });
}

json::object Backends::probe(Call& up, const Provider& provider) {
  auto told = probed(up, provider);
  if (told) {
    json::object out{{"status", "ok"}};
    if (auto facts = json::parse(*told); facts && facts->is_object()) out["facts"] = *facts;
    return out;
  }
  json::object out;
  out["status"] = told.error().code == BH_FAILED_PRECONDITION ? "failed_precondition" : "unavailable";
  out["message"] = told.error().message;
  if (auto details = json::parse_object(told.error().details)) {
    out["hint"] = json::get_string(*details, "remedy");
  }
  return out;
}

Result<std::shared_ptr<const OpenedBackend>> Backends::open(Call& up, const Provider& provider) {
  auto facts = probed(up, provider);
  if (!facts) {
    Error error = std::move(facts).error();
    // Stopped on the way: that says nothing about the backend.
    if (error.code == BH_CANCELLED || error.code == BH_DEADLINE_EXCEEDED) {
      return tl::unexpected(std::move(error));
    }
    json::object details;
    details["reason"] = "backend_unavailable";
    details["backend"] = provider.id;
    if (auto told = json::parse_object(error.details)) {
      // Where people look for it: what to install is most of the answer.
      if (const json::value* remedy = told->if_contains("remedy")) details["remedy"] = *remedy;
      details["probe"] = std::move(*told);
    }
    error.message = "the backend " + provider.id + " cannot work here: " + error.message;
    error.details = json::print(details);
    return tl::unexpected(std::move(error));
  }
  auto profile = DriverSchema::compile(provider.profile_schema(), "profile");
  if (!profile) return tl::unexpected(std::move(profile).error());
  auto exec = DriverSchema::compile(provider.exec_schema(), "exec options");
  if (!exec) return tl::unexpected(std::move(exec).error());
  auto out = std::make_shared<OpenedBackend>(
      OpenedBackend{nullptr, std::move(*profile), std::move(*exec)});
  auto opening = Opening::make(provider, settings_.backend_config, root_, kFolder);
  if (!opening) return tl::unexpected(std::move(opening).error());
  const bh_opening how = opening->view();
  NullSink nowhere;
  NoInput none;
  void* self = nullptr;
  auto opened = drive(up, host_of_(provider.plugin), provider.plugin + ", open", nowhere, none,
                      [&](bh_call* call) { return provider.ops.open(call, &how, &self); });
  if (!opened) return tl::unexpected(std::move(opened).error());
  out->backend = std::make_shared<Backend>(provider, host_of_(provider.plugin), self);
  return std::shared_ptr<const OpenedBackend>(std::move(out));
}

std::shared_ptr<Backends::Slot> Backends::slot_of(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto& known = slots_[name];
  if (!known) known = std::make_shared<Slot>();
  return known;
}

Result<std::shared_ptr<const OpenedBackend>> Backends::try_get(Call& up, const std::string& name) {
  const std::shared_ptr<Slot> slot = slot_of(name);
  {
    std::lock_guard lock(mutex_);
    if (slot->refused && monotonic_ns() - slot->refused_ns < kRefusalNs) {
      return tl::unexpected(*slot->refused);
    }
  }
  auto opened = get(up, name);
  if (!opened && opened.error().code != BH_CANCELLED &&
      opened.error().code != BH_DEADLINE_EXCEEDED) {
    std::lock_guard lock(mutex_);
    slot->refused = opened.error();
    slot->refused_ns = monotonic_ns();
  }
  return opened;
}

Result<std::shared_ptr<const OpenedBackend>> Backends::get(Call& up, const std::string& name) {
  auto permitted = candidates(name);
  if (!permitted) return tl::unexpected(std::move(permitted).error());
  const std::shared_ptr<Slot> slot = slot_of(name);
  {
    std::lock_guard lock(mutex_);
    if (slot->opened) return slot->opened;
  }
  auto turn = slot->opening.take(up);
  if (!turn) return tl::unexpected(std::move(turn).error());
  // Who had the turn before may have opened it.
  {
    std::lock_guard lock(mutex_);
    if (slot->opened) return slot->opened;
  }
  auto found = find_(name);
  if (!found && found.error().code == BH_NOT_FOUND) {
    std::string known;
    for (const std::string& other : names_()) known += (known.empty() ? "" : ", ") + other;
    return fail(BH_NOT_FOUND,
                "there is no isolation backend " + json::quote(name) + "; known are: " +
                    (known.empty() ? "none" : known),
                "backend_unavailable",
                {{"field", "/backend"},
                 {"backend", name},
                 {"remedy", "plugin.list names those that there are"}});
  }
  if (!found) return tl::unexpected(std::move(found).error());
  const Provider* provider = *found;
  auto opened = open(up, *provider);
  if (opened) {
    std::lock_guard lock(mutex_);
    slot->opened = *opened;
  }
  return opened;
}

void Backends::close() {
  // Closed outside the lock, by whoever lets go of it last.
  std::map<std::string, std::shared_ptr<Slot>> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(slots_);
  }
}

}  // namespace bh
