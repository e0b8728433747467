#include "sandbox/sandboxes.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/beneath.h"
#include "core/clock.h"
#include "sandbox/report.h"
#include "sandbox/shape_key.h"

namespace bh {

Sandbox::~Sandbox() {
  if (handle != nullptr) opened->backend->table().release(handle);
}

std::string new_name(char kind) {
  std::array<unsigned char, 10> random{};
  // Never short and never fails once the pool is ready, which it is long before a host runs.
  (void)!::getrandom(random.data(), random.size(), 0);
  std::string out(1, kind);
  out += '-';
  char hex[3];
  for (unsigned char c : random) {
    std::snprintf(hex, sizeof hex, "%02x", c);
    out += hex;
  }
  return out;
}

struct Sandboxes::Shape {
  std::shared_ptr<const OpenedBackend> opened;
  json::object profile;      // the whole one
  std::string for_backend;   // what its schema lists
  std::vector<std::string> taken_out;
  std::vector<std::string> required;

  Result<json::object> judged(json::object report) const {
    json::object whole = complete_report(std::move(report), profile, taken_out);
    BH_TRY(check_required(whole, required, opened->backend->id()));
    return whole;
  }
};

Sandboxes::Sandboxes(const DataRoot& root, const SandboxSettings& settings, Backends& backends,
                     SandboxRecords& records)
    : root_(root), settings_(settings), backends_(backends), records_(records) {}

Result<Sandboxes::Shape> Sandboxes::shape_of(Call& up, const SandboxWish& wish,
                                             const std::string& folders) {
  auto opened = backends_.get(up, wish.backend);
  if (!opened) return tl::unexpected(std::move(opened).error());
  auto profile = resolve_profile(wish, settings_, up.session().persona, root_, folders);
  if (!profile) return tl::unexpected(std::move(profile).error());
  Shape shape;
  shape.opened = std::move(*opened);
  shape.profile = std::move(*profile);
  shape.required = required_of(shape.profile, shape.opened->backend->id());
  auto split = shape.opened->profile.split(shape.profile);
  BH_TRY(shape.opened->profile.check(split.kept));
  shape.taken_out = std::move(split.unlisted);
  shape.for_backend = json::print(split.kept);
  return shape;
}

std::shared_ptr<Sandbox> Sandboxes::open_handle(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto at = handles_.find(id);
  return at == handles_.end() ? nullptr : at->second;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::make(Call& up, Shape shape, const std::string& id,
                                                 const std::string& default_key) {
  SandboxRecord record;
  record.id = id;
  record.persona = up.session().persona;
  record.backend = shape.opened->backend->id();
  record.default_key = default_key;
  record.state = "making";
  record.created_ms = wall_ns() / 1'000'000;
  record.profile = shape.profile;
  // Recorded first: whatever happens from here on, the next host can find and end it by name.
  BH_TRY(records_.put(record));
  auto sandbox = std::make_shared<Sandbox>();
  sandbox->id = id;
  sandbox->persona = record.persona;
  sandbox->opened = shape.opened;
  sandbox->profile = shape.profile;
  sandbox->is_default = !default_key.empty();
  const Backend& backend = *shape.opened->backend;
  auto report = backend.create(up, id, shape.for_backend, &sandbox->handle);
  Result<json::object> judged =
      report ? shape.judged(std::move(*report)) : Result<json::object>(std::move(report));
  if (judged) {
    record.state = "running";
    record.report = *judged;
    if (auto put = records_.put(record); !put) judged = tl::unexpected(std::move(put).error());
  }
  if (!judged) {
    CallOptions cleanup;
    cleanup.cleanup = true;
    NullSink nowhere;
    NoInput none;
    Call call(up, nowhere, none, cleanup);
    sandbox.reset();
    if (backend.destroy(call, id)) (void)records_.remove(record.id);
    return tl::unexpected(std::move(judged).error());
  }
  sandbox->report = std::move(*judged);
  std::lock_guard lock(mutex_);
  handles_[id] = sandbox;
  return sandbox;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::create(Call& up, const SandboxWish& wish) {
  std::string id = new_name('s');
  auto shape = shape_of(up, wish, sandbox_folder(id));
  Result<std::shared_ptr<Sandbox>> made =
      shape ? make(up, std::move(*shape), id, {})
            : Result<std::shared_ptr<Sandbox>>(tl::unexpected(std::move(shape).error()));
  if (!made) (void)remove_beneath(root_.fd(), sandbox_folder(id));
  return made;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::reopen(Call& up, const SandboxRecord& record) {
  if (auto open = open_handle(record.id)) return open;
  auto opened = backends_.get(up, record.backend);
  if (!opened) return tl::unexpected(std::move(opened).error());
  auto sandbox = std::make_shared<Sandbox>();
  sandbox->id = record.id;
  sandbox->persona = record.persona;
  sandbox->opened = std::move(*opened);
  sandbox->profile = record.profile;
  sandbox->is_default = !record.default_key.empty();
  auto report = sandbox->opened->backend->find(up, record.id, &sandbox->handle);
  if (!report) return tl::unexpected(std::move(report).error());
  auto split = sandbox->opened->profile.split(record.profile);
  sandbox->report = complete_report(std::move(*report), record.profile, split.unlisted);
  BH_TRY(check_required(sandbox->report, required_of(record.profile, record.backend),
                        record.backend));
  std::lock_guard lock(mutex_);
  return handles_.emplace(record.id, sandbox).first->second;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::default_of(Call& up, const SandboxWish& wish) {
  auto shape = shape_of(up, wish, persona_folder(up.session().persona));
  if (!shape) return tl::unexpected(std::move(shape).error());
  std::string key = shape_key(up.session().persona, shape->opened->backend->id(), shape->profile);
  {
    std::lock_guard lock(mutex_);
    auto known = defaults_.find(key);
    if (known != defaults_.end()) {
      auto at = handles_.find(known->second);
      // Another process may have ended it: the record says, the handle does not.
      if (at != handles_.end() && records_.default_of(key) == known->second) return at->second;
      handles_.erase(known->second);
      defaults_.erase(known);
    }
  }
  // Two processes that need the same one at once make it once.
  auto lock = NameLock::take(root_, key);
  if (!lock) return tl::unexpected(std::move(lock).error());
  std::string id = records_.default_of(key);
  if (!id.empty()) {
    auto record = records_.get(id);
    if (record && record->persona != up.session().persona) {
      return fail(BH_INTERNAL, "the default sandbox belongs to another persona", "record");
    }
    if (record && record->state == "running") {
      auto found = reopen(up, *record);
      if (found) {
        std::lock_guard guard(mutex_);
        defaults_[key] = id;
        return found;
      }
      if (found.error().code != BH_NOT_FOUND) return found;
    }
    // Half made by a host that died, or gone from the backend: ended by name, then made anew.
    if (record) {
      BH_TRY(shape->opened->backend->destroy(up, id));
      BH_TRY(records_.remove(record->id));
    }
  }
  id = new_name('d');
  auto made = make(up, std::move(*shape), id, key);
  if (made) {
    std::lock_guard guard(mutex_);
    defaults_[key] = id;
  }
  return made;
}

Result<SandboxRecord> Sandboxes::record_of(const Session& session, const std::string& id) {
  auto record = records_.get(id);
  if (record && !session.is_operator && record->persona != session.persona) {
    return no_such_sandbox(id);
  }
  return record;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::get(Call& up, const std::string& id) {
  auto record = record_of(up.session(), id);
  if (!record) return tl::unexpected(std::move(record).error());
  return reopen(up, *record);
}

Result<void> Sandboxes::kill(Call& up, const std::string& id) {
  auto record = record_of(up.session(), id);
  if (!record) return tl::unexpected(std::move(record).error());
  auto opened = backends_.get(up, record->backend);
  if (!opened) return tl::unexpected(std::move(opened).error());
  BH_TRY((*opened)->backend->destroy(up, id));
  {
    std::lock_guard lock(mutex_);
    handles_.erase(id);
    if (!record->default_key.empty()) defaults_.erase(record->default_key);
  }
  BH_TRY(remove_beneath(root_.fd(), sandbox_folder(id)));
  return records_.remove(record->id);
}

Result<std::vector<SandboxRecord>> Sandboxes::list(const Session& session) {
  auto all = records_.all();
  if (!all || session.is_operator) return all;
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const SandboxRecord& r) { return r.persona != session.persona; }),
             all->end());
  return all;
}

Result<Sandboxes::Plan> Sandboxes::plan(Call& up, const SandboxWish& wish) {
  auto shape = shape_of(up, wish, persona_folder(up.session().persona));
  if (!shape) return tl::unexpected(std::move(shape).error());
  const Backend& backend = *shape->opened->backend;
  auto report = backend.plan(up, shape->for_backend);
  if (!report) return tl::unexpected(std::move(report).error());
  Plan out;
  out.backend = backend.id();
  out.report = complete_report(std::move(*report), shape->profile, shape->taken_out);
  out.profile = std::move(shape->profile);
  return out;
}

void Sandboxes::close() {
  std::lock_guard lock(mutex_);
  handles_.clear();
}

}  // namespace bh
