#include "sandbox/sandboxes.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/beneath.h"
#include "sandbox/ground.h"
#include "sandbox/images.h"
#include "sandbox/report.h"
#include "sandbox/shape_key.h"

namespace bh {
namespace {

bool is_stop(bh_status code) { return code == BH_CANCELLED || code == BH_DEADLINE_EXCEEDED; }

std::string reason_of(const Error& error) {
  auto details = json::parse_object(error.details);
  return details ? std::string(json::get_string(*details, "reason")) : std::string();
}

}  // namespace

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

Sandboxes::Sandboxes(const DataRoot& root, const SandboxSettings& settings, Backends& backends,
                     ImageStore& images, SandboxRecords& records, JobRecords& jobs,
                     Internal internal)
    : root_(root), settings_(settings), backends_(backends), images_(images), records_(records),
      jobs_(jobs),
      internal_(std::move(internal)), leases_(records, settings.lease_wait_ms),
      keeper_([this] { return pass(); }) {}

Result<Shape> Sandboxes::shape_of(Call& up, const SandboxWish& wished, const std::string& folders) {
  auto root = find_root(images_, settings_, up.session(), wished);
  if (!root) return tl::unexpected(std::move(root).error());
  SandboxWish wish = wished;
  apply_root(wish, *root);
  auto names = backends_.candidates(wish.backend);
  if (!names) return tl::unexpected(std::move(names).error());
  json::array passed_over;
  for (std::size_t i = 0;; ++i) {
    const bool last = i + 1 == names->size();
    auto opened = last ? backends_.get(up, (*names)[i]) : backends_.try_get(up, (*names)[i]);
    if (opened) {
      auto able = check_image_backend((*opened)->backend->provider(), *root);
      if (!able) opened = tl::unexpected(std::move(able).error());
    }
    if (!opened && !last && !is_stop(opened.error().code)) {
      passed_over.push_back({{"backend", (*names)[i]}, {"reason", opened.error().message}});
      continue;
    }
    if (!opened) return tl::unexpected(std::move(opened).error());
    auto profile = resolve_profile(wish, settings_, up.session().persona, root_, folders);
    if (!profile) return tl::unexpected(std::move(profile).error());
    auto shape = Shape::of(std::move(*opened), std::move(*profile), root->name, root->digest);
    if (!shape) return shape;
    // What works for folders of ours need not on every file system; another backend may.
    if (!last && leaves_file_system(shape->profile, root_.path())) {
      auto planned = shape->opened->backend->plan(up, shape->for_backend);
      if (!planned && reason_of(planned.error()) == "unmapped") {
        passed_over.push_back({{"backend", (*names)[i]}, {"reason", planned.error().message}});
        continue;
      }
    }
    shape->passed_over = std::move(passed_over);
    return shape;
  }
}

Result<void> Sandboxes::check_root(const Shape& shape) {
  if (shape.root_image.empty()) return {};
  auto there = images_.is_there(shape.root_image);
  if (!there) return tl::unexpected(std::move(there).error());
  if (*there) return {};
  return fail(BH_NOT_FOUND, "the image " + shape.root_image + " was removed just now", "image_unknown",
              {{"field", "/image"}, {"image", shape.root_image}});
}

// Two at once may both find the last place free: it keeps a caller from filling the disk, no more.
Result<void> Sandboxes::check_room(Call& up) {
  auto count = records_.count(up.session().persona);
  if (!count) return tl::unexpected(std::move(count).error());
  if (*count < settings_.most) return {};
  return fail(BH_RESOURCE_EXHAUSTED,
              "there are " + std::to_string(*count) +
                  " sandboxes already, as many as one persona may have; kill what is no longer "
                  "needed, or have the operator raise sandbox.most",
              "sandbox_limit", {{"limit", std::to_string(settings_.most)}});
}

SandboxRecord Sandboxes::draft(Call& up, const std::string& id, const std::string& backend) const {
  SandboxRecord record;
  record.id = id;
  record.persona = up.session().persona;
  record.backend = backend;
  record.state = "making";
  record.actor = ProcessName::self();
  record.created_ms = record.changed_ms = record.used_ms = wall_ms();
  return record;
}

std::shared_ptr<Sandbox> Sandboxes::open_handle(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto at = handles_.find(id);
  return at == handles_.end() ? nullptr : at->second;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::make(Call& up, SandboxRecord& record, Shape shape,
                                                 std::optional<std::int64_t> timeout_ms) {
  auto sandbox = std::make_shared<Sandbox>();
  sandbox->id = record.id;
  sandbox->persona = record.persona;
  sandbox->opened = shape.opened;
  sandbox->profile = shape.profile;
  sandbox->env = record.env;
  sandbox->is_default = !record.default_key.empty();
  auto attempt = [&]() -> Result<void> {
    auto report = shape.opened->backend->create(up, record.id, shape.for_backend, &sandbox->handle);
    if (!report) return tl::unexpected(std::move(report).error());
    auto judged = shape.judged(std::move(*report));
    if (!judged) return tl::unexpected(std::move(judged).error());
    record.state = "running";
    record.report = sandbox->report = std::move(*judged);
    record.changed_ms = record.used_ms = wall_ms();
    if (timeout_ms) record.expires_ms = *timeout_ms > INT64_MAX - record.changed_ms
                                            ? INT64_MAX
                                            : record.changed_ms + *timeout_ms;
    auto finished = records_.finish_making(record);
    if (!finished) return tl::unexpected(std::move(finished).error());
    if (*finished) return {};
    return fail(BH_FAILED_PRECONDITION, "the sandbox " + record.id + " was ended while it was made",
                "sandbox_ended", {{"sandbox", record.id}});
  };
  if (auto made = attempt(); !made) {
    sandbox.reset();
    (void)end_after_failure(up, record.id);
    return tl::unexpected(std::move(made).error());
  }
  record.actor = {};
  if (timeout_ms) keeper_.poke();
  std::lock_guard lock(mutex_);
  handles_[record.id] = sandbox;
  return sandbox;
}

Result<SandboxRecord> Sandboxes::create(Call& up, const NewSandbox& wanted) {
  keeper_.touch();
  auto names = backends_.candidates(wanted.wish.backend);
  if (!names) return tl::unexpected(std::move(names).error());
  BH_TRY(check_room(up));
  SandboxRecord record = draft(up, new_name('s'), names->front());
  record.env = wanted.env;
  record.metadata = wanted.metadata;
  // Recorded first, before its folders are made: whatever becomes of this process, the next host
  // finds all of it by name.
  BH_TRY(records_.put(record));
  auto attempt = [&]() -> Result<Shape> {
    auto shape = shape_of(up, wanted.wish, sandbox_folder(record.id));
    if (!shape) return shape;
    if (!wanted.env.empty()) {
      auto split = shape->opened->exec.split({{"env", wanted.env}});
      if (!split.unlisted.empty()) {
        return fail(BH_UNIMPLEMENTED,
                    "the backend " + shape->opened->backend->id() +
                        " gives commands no environment of their own; leave env out or choose "
                        "another backend",
                    "exec_option_unsupported",
                    {{"field", "/env"}, {"backend", shape->opened->backend->id()}});
      }
      BH_TRY(shape->opened->exec.check(split.kept));
    }
    record.backend = shape->opened->backend->id();
    record.profile = shape->profile;
    record.image = shape->image;
    record.root_image = shape->root_image;
    BH_TRY(records_.put(record));
    BH_TRY(check_root(*shape));
    return shape;
  };
  auto shape = attempt();
  if (!shape) {
    (void)end_after_failure(up, record.id);
    return tl::unexpected(std::move(shape).error());
  }
  auto made = make(up, record, std::move(*shape), wanted.timeout_ms);
  if (!made) return tl::unexpected(std::move(made).error());
  return record;
}

Result<std::shared_ptr<Sandbox>> Sandboxes::opened(Call& up, const std::string& id) {
  if (auto open = open_handle(id)) return open;
  auto record = records_.get(id);
  if (!record) return tl::unexpected(std::move(record).error());
  auto backend = backends_.get(up, record->backend);
  if (!backend) return tl::unexpected(std::move(backend).error());
  auto shape = Shape::of(*backend, record->profile, record->image, record->root_image);
  if (!shape) return tl::unexpected(std::move(shape).error());
  auto sandbox = std::make_shared<Sandbox>();
  sandbox->id = id;
  sandbox->persona = record->persona;
  sandbox->opened = *backend;
  sandbox->profile = record->profile;
  sandbox->env = record->env;
  sandbox->is_default = !record->default_key.empty();
  auto report = (*backend)->backend->find(up, id, &sandbox->handle);
  if (!report) return tl::unexpected(std::move(report).error());
  auto judged = shape->judged(std::move(*report));
  if (!judged) return tl::unexpected(std::move(judged).error());
  sandbox->report = std::move(*judged);
  std::lock_guard lock(mutex_);
  return handles_.emplace(id, sandbox).first->second;
}

Result<Use> Sandboxes::entered(Call& up, const Leases::Claim& claim) {
  Use use(leases_, claim.life.id);
  auto sandbox = opened(up, claim.life.id);
  if (!sandbox) return tl::unexpected(std::move(sandbox).error());
  if (claim.inherited) {
    BH_TRY(end_inherited(up, **sandbox));
    BH_TRY(leases_.settle(claim.life.id));
  }
  use.holds(std::move(*sandbox));
  return use;
}

Result<Use> Sandboxes::use(Call& up, const std::string& id) {
  keeper_.touch();
  auto claim = leases_.claim(up, id);
  if (!claim) return tl::unexpected(std::move(claim).error());
  return entered(up, *claim);
}

Result<Use> Sandboxes::use_default(Call& up, const SandboxWish& wish) {
  keeper_.touch();
  auto shape = shape_of(up, wish, persona_folder(up.session().persona));
  if (!shape) return tl::unexpected(std::move(shape).error());
  const std::string backend = shape->opened->backend->id();
  const std::string key = shape_key(up.session().persona, backend, shape->profile);
  for (;;) {
    auto claim = leases_.claim_default(key);
    if (!claim) return tl::unexpected(std::move(claim).error());
    if (*claim) {
      auto use = entered(up, **claim);
      if (use || use.error().code != BH_NOT_FOUND) return use;
      // Gone from the backend: ended by name, and another is looked for.
      BH_TRY(end(up, (*claim)->life.id));
      continue;
    }
    bool ours = false;
    {
      std::lock_guard lock(mutex_);
      ours = making_.insert(key).second;
    }
    // Another thread of ours makes one: it will do for both.
    if (!ours) {
      if (bh_status st = up.wait(2'000'000)) return tl::unexpected(stop_error(st));
      continue;
    }
    struct Made {
      Sandboxes& all;
      const std::string& key;
      ~Made() {
        std::lock_guard lock(all.mutex_);
        all.making_.erase(key);
      }
    } made{*this, key};
    // It may have been made between the look above and our turn.
    claim = leases_.claim_default(key);
    if (!claim) return tl::unexpected(std::move(claim).error());
    if (*claim) {
      auto use = entered(up, **claim);
      if (use || use.error().code != BH_NOT_FOUND) return use;
      BH_TRY(end(up, (*claim)->life.id));
    }
    BH_TRY(check_room(up));
    SandboxRecord record = draft(up, new_name('d'), backend);
    record.default_key = key;
    record.profile = shape->profile;
    record.image = shape->image;
    record.root_image = shape->root_image;
    record.owner = record.actor;
    record.busy = 1;
    BH_TRY(records_.put(record));
    if (auto there = check_root(*shape); !there) {
      (void)end_after_failure(up, record.id);
      return tl::unexpected(std::move(there).error());
    }
    Use use(leases_, record.id);
    auto sandbox = make(up, record, std::move(*shape), std::nullopt);
    if (!sandbox) return tl::unexpected(std::move(sandbox).error());
    use.holds(std::move(*sandbox));
    return use;
  }
}

Result<std::shared_ptr<Sandbox>> Sandboxes::get(Call& up, const std::string& id) {
  auto life = records_.life(id);
  if (!life) return tl::unexpected(std::move(life).error());
  BH_TRY(check_seen(up.session(), *life));
  // A paused one can be looked at and signalled; its backend says what else.
  if (life->state == "making" || life->state == "stopping" || life->state == "failed") {
    BH_TRY(check_usable(*life));
  }
  keeper_.touch();
  return opened(up, id);
}

Result<Sandboxes::Plan> Sandboxes::plan(Call& up, const SandboxWish& wish) {
  auto shape = shape_of(up, wish, persona_folder(up.session().persona));
  if (!shape) return tl::unexpected(std::move(shape).error());
  const Backend& backend = *shape->opened->backend;
  auto report = backend.plan(up, shape->for_backend);
  if (!report) return tl::unexpected(std::move(report).error());
  Plan out;
  out.backend = backend.id();
  out.report = shape->complete(std::move(*report));
  out.profile = std::move(shape->profile);
  return out;
}

}  // namespace bh
