#include "prepare.h"

#include <poll.h>
#include <string.h>

#include <bulkhead/sdk/isolation/report_limits.hpp>
#include <bulkhead/sdk/isolation/view_layout.hpp>

namespace bwrap {

using isolation::Note;
using isolation::Report;
using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

// Whether every source can be staged for this identity: an empty text, or which one cannot and why.
sdk::Result<std::string> try_staging(sdk::Call& call, const Tools& tools, const Identity& who,
                                     const View& view) {
  auto launched = isolation::Launched::start(make_check(tools, who, view));
  if (!launched) return std::move(launched).failure();
  std::string answer = "the helper program ended early";
  size_t heard = 0;
  std::string bad;
  for (;;) {
    pollfd p[2] = {{launched->job.get(), POLLIN, 0},
                   {static_cast<int>(call.cancel_fd()), POLLIN, 0}};
    if (::poll(p, 2, 10000) <= 0 && errno != EINTR) break;
    if (p[1].revents != 0) {
      if (auto st = call.stopped(); !st.ok()) {
        launched->kill_helper();
        return std::move(st).failure();
      }
    }
    Note note;
    int n;
    while ((n = isolation::receive_note(launched->job.get(), note)) == 1) {
      if (note.kind != Note::kChecked) continue;
      ++heard;
      const auto index = static_cast<size_t>(note.a);
      if (note.b != 0 && bad.empty() && index < view.sources.size()) {
        bad = view.sources[index].path + ": " + ::strerror(note.b);
      }
    }
    if (n == 0) break;
  }
  launched->kill_helper();
  return heard == view.sources.size() ? bad : answer;
}

void report_view(const Prepared& p, Report& report) {
  const isolation::Profile& profile = p.profile;
  report.enforced("root.view", "mount", "host");
  if (profile.root != "host") {
    report.unsupported("root." + profile.root, "this backend shows the host's own files only");
  }
  const bool mapped = p.who.ids == Ids::kShifted;
  const char* by = mapped ? "mount, id-mapped" : "mount";
  if (profile.workspace) {
    const bool rw = profile.workspace->access == isolation::Access::kReadWrite;
    report.enforced("workspace", by,
                    json::object({{"path", p.view.cwd}, {"access", rw ? "rw" : "ro"}}));
  }
  report.enforced("home", by, isolation::word(p.view.home));
  report.enforced("tmp", by, "/tmp");
  for (const isolation::Outcome& o : p.view.outcomes) {
    if (o.state == isolation::Outcome::kEnforced) report.enforced(o.rule, "mount");
    if (o.state == isolation::Outcome::kPartial) report.partial(o.rule, "mount", o.reason);
    if (o.state == isolation::Outcome::kUnsupported) report.unsupported(o.rule, o.reason);
  }
}

void report_network(const isolation::Profile& profile, Report& report) {
  if (profile.network == isolation::Network::kOff) {
    report.enforced("network.mode", "network namespace", "off");
  } else if (profile.network == isolation::Network::kUnrestricted) {
    report.enforced("network.mode", "the host's network", "unrestricted");
  } else {
    report.unsupported("network.mode",
                       "bubblewrap has no filter by name; choose off or unrestricted, or a backend "
                       "with one",
                       isolation::word(profile.network_word));
  }
  if (profile.network_rules) {
    report.unsupported("network.allow", "bubblewrap has no filter by name");
  }
}

void report_guarantees(const Prepared& p, const Tools& tools, const std::string& unmapped,
                       Report& report) {
  const char* space = "pid namespace";
  report.enforced("isolation.pid", space);
  report.enforced("isolation.end", "pid namespace, parent-death signal, pidfd of the host");
  report.enforced("isolation.capabilities", "none, no_new_privs, user namespace");
  report.enforced("isolation.seccomp", "seccomp", "allow list");
  report.enforced("isolation.ipc", "ipc and uts namespaces");
  report.enforced("isolation.devices", "a /dev of its own; nodev elsewhere");
  if (p.profile.network == isolation::Network::kOff) {
    report.enforced("isolation.abstract_sockets", "network namespace");
  } else if (isolation::landlock_version() >= isolation::kLandlockScopes) {
    report.enforced("isolation.abstract_sockets", "Landlock scope");
  } else {
    report.unsupported(
        "isolation.abstract_sockets",
        "the host's network holds the host's sockets without a path, and this kernel "
        "cannot keep them apart; that takes Linux 6.12 with Landlock");
  }
  json::array hidden;
  for (const auto& path : p.view.hidden) hidden.emplace_back(path);
  report.enforced("isolation.hides", "mount", std::move(hidden));
  if (p.view.own_by_file) {
    report.partial("isolation.own_program", "mount",
                   "Bulkhead's own program or library lies right in a folder that is writable "
                   "inside: the file is read-only, but others can be put beside it");
  } else {
    report.enforced("isolation.own_program", "mount");
  }
  if (p.who.ids == Ids::kRoot) {
    report.partial(
        "isolation.kernel_uid", "user namespace, masks",
        "the sandbox's processes have the kernel's id 0, without capabilities, since the "
        "files cannot be mounted with other ids (" +
            unmapped +
            "): what only root may read in /etc and /var is masked, and /proc/sys is "
            "read-only. Keep workspace and data on ext4, xfs, btrfs or, since Linux 6.3, tmpfs, or start "
            "as an ordinary user",
        int64_t{0});
  } else {
    report.enforced(
        "isolation.kernel_uid",
        p.who.ids == Ids::kShifted ? "shifted id, id-mapped mounts" : "the user's own id",
        int64_t{p.who.uid});
  }
  if (tools.features.has("--disable-userns")) {
    report.enforced("isolation.nested_users", "seccomp, user.max_user_namespaces");
  } else {
    report.enforced("isolation.nested_users", "seccomp");
  }
}

}  // namespace

uint64_t shm_bytes(const isolation::Limits& limits) {
  constexpr uint64_t kDefault = uint64_t{512} << 20;
  return limits.memory_bytes
             ? std::min(kDefault, std::max<uint64_t>(*limits.memory_bytes / 2, 4096))
             : kDefault;
}

sdk::Result<Prepared> prepare(sdk::Call& call, const PrepareRequest& request) {
  auto profile = isolation::parse_profile(request.profile);
  if (!profile) return std::move(profile).failure();
  Prepared p;
  p.profile = std::move(*profile);
  if (auto st = isolation::check_user_name(p.profile.user); !st) return std::move(st).failure();
  isolation::ViewRequest view;
  view.profile = &p.profile;
  view.who = &p.who;
  view.environment = &request.tools->environment;
  view.own_home = request.own_home;
  view.own_tmp = request.own_tmp;
  view.absent = request.absent;
  view.own = &request.tools->own;
  const Ids natural = ::geteuid() == 0 ? Ids::kShifted : Ids::kOwn;
  std::string unmapped;
  for (Ids ids = request.ids.value_or(natural);; ids = Ids::kRoot) {
    uint32_t shifted = 0;
    if (ids == Ids::kShifted) {
      auto id = request.tools->personas.id_of(p.profile.persona, request.take_id);
      if (!id) return std::move(id).failure();
      shifted = *id;
    }
    p.who = isolation::identity_for(p.profile, ids, shifted);
    auto made = isolation::make_view(view);
    if (!made) return std::move(made).failure();
    p.view = std::move(*made);
    const bool staged = !p.view.sources.empty() && p.view.sources[0].staged != 0;
    if (request.ids || !staged || ids == Ids::kRoot) break;
    auto bad = try_staging(call, *request.tools, p.who, p.view);
    if (!bad) return std::move(bad).failure();
    if (bad->empty()) break;
    if (ids == Ids::kOwn) {
      return failure(BH_FAILED_PRECONDITION,
                     "rules about paths below writable folders need a user namespace of the "
                     "helper's own, which is refused here (" +
                         *bad + ")",
                     "user_namespace", "files",
                     "allow unprivileged user namespaces, or drop those rules");
    }
    unmapped = *bad;
  }
  p.report = Report("bwrap", request.tools->features.version);
  report_view(p, p.report);
  report_network(p.profile, p.report);
  isolation::report_limits(p.profile.limits, request.tools->cgroups, p.who.ids != Ids::kRoot,
                           p.report);
  if (p.profile.limits.disk_bytes) {
    p.report.partial("limits.disk_bytes", "RLIMIT_FSIZE",
                     "of each file, not of all together: bubblewrap has no disk quota",
                     static_cast<int64_t>(*p.profile.limits.disk_bytes));
  }
  p.report.enforced("env.allow", "environment");
  if (!p.profile.env_set.empty()) p.report.enforced("env.set", "environment");
  if (p.profile.uid) p.report.enforced("user.uid", "user namespace", int64_t{p.who.inside_uid});
  if (p.profile.gid) p.report.enforced("user.gid", "user namespace", int64_t{p.who.inside_gid});
  if (!p.profile.user.empty())
    p.report.enforced("user.name", "mount of /etc/passwd", isolation::word(p.who.name));
  if (p.who.ids == Ids::kShifted) {
    p.report.enforced("persona", "an id of its own");
  } else {
    p.report.partial("persona", "mount",
                     "files, processes and sockets are apart; all have one id of the host, and "
                     "with it what the kernel counts per user (inotify, locked memory)");
  }
  report_guarantees(p, *request.tools, unmapped, p.report);
  return p;
}

Status acceptable(const Prepared& p) {
  if (p.profile.root != "host") {
    return failure(BH_FAILED_PRECONDITION,
                   "bwrap shows the host's own files only, no " + p.profile.root, "not_enforced",
                   "root." + p.profile.root, "choose a backend with images");
  }
  for (const char* rule : {"network.mode", "network.allow"}) {
    const auto* line = p.report.find(rule);
    if (line != nullptr && line->state != Report::State::kEnforced) {
      return failure(BH_FAILED_PRECONDITION,
                     "the network would not be what the profile asks for: " + line->reason,
                     "not_enforced", rule, "set network.mode to off or unrestricted");
    }
  }
  return p.report.meets(p.profile.required);
}

}  // namespace bwrap
