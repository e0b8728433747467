// How sandboxes end: killed, expired, or left behind by a process that died.
#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/beneath.h"
#include "sandbox/sandboxes.h"

namespace bh {
namespace {

constexpr std::int64_t kPatience = 30 * kSecond;  // for one thing of a pass
constexpr std::int64_t kJobsEnd = 3 * kSecond;
constexpr std::int64_t kJobsKeptMs = 24 * 3'600'000;
constexpr std::int64_t kJobsKept = 1000;  // of each persona's, once they have ended

// Why a pass ends it: a word for its record; empty: it does not.
std::string why_end(const SandboxLife& life, std::int64_t now, std::int64_t idle_ms) {
  const bool acted_on = life.actor.alive();
  if (life.state == "making") return acted_on ? "" : "abandoned";
  // By a living process: it does it itself. Who failed at it took its name away.
  if (life.state == "stopping") return acted_on ? "" : life.reason;
  if (life.expired(now) && !acted_on) return "expired";
  const bool used = life.busy > 0 && life.owner.alive();
  if (!life.default_key.empty() && !used && !acted_on && life.used_ms <= now - idle_ms) return "idle";
  return {};
}

bool left_running(const SandboxLife& life) {
  return life.state == "running" && (life.busy > 0 ? !life.owner.alive() : life.inherited);
}

bool half_changed(const SandboxLife& life) {
  return (life.state == "pausing" || life.state == "resuming") && !life.actor.alive();
}

Failure no_longer() { return fail(BH_ABORTED, "it is not so any more"); }

std::vector<std::string> names_in(const DataRoot& root, const char* folder) {
  std::vector<std::string> out;
  auto opened = open_beneath(root.fd(), folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return out;
  DIR* dir = ::fdopendir(opened->get());
  if (dir == nullptr) return out;
  (void)opened->release();
  while (const dirent* entry = ::readdir(dir)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(std::move(name));
  }
  ::closedir(dir);
  return out;
}

}  // namespace

void Sandboxes::forget(const std::string& id) {
  // Letting a handle go is a plugin's function, which may take its time or ask the host something:
  // not with the lock that every other sandbox needs.
  std::shared_ptr<Sandbox> last;
  std::lock_guard lock(mutex_);
  auto at = handles_.find(id);
  if (at == handles_.end()) return;
  last = std::move(at->second);
  handles_.erase(at);
}

Result<void> Sandboxes::end(Call& up, const std::string& id) {
  auto record = records_.get(id);
  if (!record) {
    // Another was quicker.
    if (record.error().code == BH_NOT_FOUND) return {};
    return tl::unexpected(std::move(record).error());
  }
  // Without a profile its making never reached the backend.
  if (!record->profile.empty()) {
    auto opened = backends_.get(up, record->backend);
    if (!opened) return tl::unexpected(std::move(opened).error());
    BH_TRY((*opened)->backend->destroy(up, id));
  }
  forget(id);
  BH_TRY(end_jobs(up, id));
  BH_TRY(remove_beneath(root_.fd(), sandbox_folder(id)));
  return records_.remove(id);
}

// The commands are gone; who ran them writes down how they ended, unless it is gone or takes too long.
Result<void> Sandboxes::end_jobs(Call& up, const std::string& id) {
  const std::int64_t until = monotonic_ns() + kJobsEnd;
  BH_TRY(jobs_.lose(wall_ms()));
  for (;;) {
    auto jobs = jobs_.list(id);
    if (!jobs) return tl::unexpected(std::move(jobs).error());
    bool wait = false;
    for (JobRecord& job : *jobs) {
      if (job.state != "running") continue;
      if (job.owner.alive() && monotonic_ns() < until && up.stop_reason() == BH_OK) {
        wait = true;
        continue;
      }
      job.state = "ended";
      job.reason = "stopped";
      job.message = "its sandbox was ended";
      job.exit = {{"reason", "stopped"}, {"code", nullptr}, {"signal", nullptr}};
      job.ended_ms = wall_ms();
      BH_TRY(jobs_.finish(job));
    }
    if (!wait) return {};
    (void)up.wait(5'000'000);
  }
}

Result<void> Sandboxes::end_after_failure(Call& up, const std::string& id) {
  CallOptions cleanup;
  cleanup.cleanup = true;
  NullSink nowhere;
  NoInput none;
  Call call(up, nowhere, none, cleanup);
  auto done = end(call, id);
  if (done) return done;
  // Not ours any more: the next pass, of any process, tries again.
  (void)records_.change(id, [&](SandboxLife& life) -> Result<void> {
    life.state = "stopping";
    life.reason = "abandoned";
    life.message = done.error().message;
    life.actor = {};
    return {};
  });
  return done;
}

Result<void> Sandboxes::kill(Call& up, const std::string& id) {
  keeper_.touch();
  bool seen = false;
  for (;;) {
    bool making = false;
    auto life = records_.change(id, [&](SandboxLife& l) -> Result<void> {
      if (!seen) BH_TRY(check_seen(up.session(), l));
      seen = true;
      making = l.state == "making" && l.actor.alive();
      l.reason = "killed";
      // Who makes it finds the word, and ends it: only the maker knows when nothing more comes.
      if (making) return {};
      l.state = "stopping";
      l.actor = ProcessName::self();
      return {};
    });
    if (!life) {
      if (seen && life.error().code == BH_NOT_FOUND) return {};
      return tl::unexpected(std::move(life).error());
    }
    if (!making) break;
    if (bh_status st = up.wait(20'000'000)) return tl::unexpected(stop_error(st));
  }
  auto done = end(up, id);
  if (done) return done;
  (void)records_.change(id, [&](SandboxLife& life) -> Result<void> {
    life.message = done.error().message;
    if (life.actor.here()) life.actor = {};
    return {};
  });
  return done;
}

Result<void> Sandboxes::end_inherited(Call& up, const Sandbox& sandbox) {
  const Backend& backend = *sandbox.opened->backend;
  if (!BH_HAS(&backend.table(), bh_isolation, signal) || backend.table().signal == nullptr) return {};
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, backend.host(), backend.who("signal"), nowhere, none, [&](bh_call* c) {
    return backend.table().signal(sandbox.handle, c, "", 0, 9);
  });
  if (done || done.error().code == BH_NOT_FOUND || done.error().code == BH_UNIMPLEMENTED) return {};
  return tl::unexpected(std::move(done).error());
}

void Sandboxes::sweep_one(const SandboxLife& was) {
  const std::string id = was.id;
  std::string why;
  auto changed = records_.change(id, [&](SandboxLife& life) -> Result<void> {
    why = why_end(life, wall_ms(), settings_.idle_ms);
    if (!why.empty()) {
      life.state = "stopping";
      life.reason = why;
      life.actor = ProcessName::self();
      return {};
    }
    if (!half_changed(life)) return no_longer();
    // Resuming what runs does no harm; running a command in what is paused would hang.
    life.state = "paused";
    life.actor = {};
    return {};
  });
  if (changed && !why.empty()) {
    auto ended = internal_(kPatience, [&](Call& call) { return end(call, id); });
    if (ended) return;
    (void)records_.change(id, [&](SandboxLife& life) -> Result<void> {
      life.message = ended.error().message;
      if (life.actor.here()) life.actor = {};
      return {};
    });
    return;
  }
  if (!left_running(was)) return;
  // Taking it over ends what runs; then it is anybody's.
  (void)internal_(kPatience, [&](Call& call) -> Result<void> {
    auto taken = use(call, id);
    if (!taken) return tl::unexpected(std::move(taken).error());
    return {};
  });
}

void Sandboxes::sweep_folders() {
  // A record is there before its folder and goes after it: what has none now is nobody's.
  for (const char* kind : {"sandboxes", "jobs"}) {
    const bool jobs = kind == std::string_view("jobs");
    for (const std::string& name : names_in(root_, kind)) {
      if (keeper_.hurried()) return;
      bh_status found = BH_OK;
      if (jobs) {
        if (auto record = jobs_.get(name); !record) found = record.error().code;
      } else if (auto life = records_.life(name); !life) {
        found = life.error().code;
      }
      if (found == BH_NOT_FOUND) (void)remove_beneath(root_.fd(), std::string(kind) + "/" + name);
    }
  }
}

std::int64_t Sandboxes::pass() {
  leases_.retry();
  std::int64_t next = INT64_MAX;
  auto lives = records_.lives();
  if (!lives) return next;
  (void)jobs_.lose(wall_ms());
  if (auto stale = jobs_.stale(wall_ms() - kJobsKeptMs, kJobsKept)) {
    // Their files have no record then, and go with the other folders that have none.
    for (const std::string& job : *stale) (void)jobs_.remove(job);
  }
  std::set<std::string> there;
  for (const SandboxLife& life : *lives) {
    there.insert(life.id);
    const std::int64_t now = wall_ms();
    if (life.expires_ms && !life.expired(now)) next = std::min(next, *life.expires_ms);
    if (keeper_.hurried()) continue;
    if (!why_end(life, now, settings_.idle_ms).empty() || left_running(life) || half_changed(life)) {
      sweep_one(life);
    }
  }
  sweep_folders();
  // Handles of what other processes ended.
  std::vector<std::string> open;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, sandbox] : handles_) {
      if (there.count(id) == 0) open.push_back(id);
    }
  }
  for (const std::string& id : open) {
    auto life = records_.life(id);
    if (!life && life.error().code == BH_NOT_FOUND) forget(id);
  }
  return next;
}

bool Sandboxes::close() {
  if (!keeper_.stop()) return false;
  std::map<std::string, std::shared_ptr<Sandbox>> open;
  {
    std::lock_guard lock(mutex_);
    open.swap(handles_);
  }
  return true;
}

}  // namespace bh
