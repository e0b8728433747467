#include "prepare.h"

#include <string.h>

#include <algorithm>
#include <bulkhead/sdk/isolation/report_limits.hpp>
#include <bulkhead/sdk/isolation/view_layout.hpp>

namespace ns {

using isolation::Ids;
using isolation::Node;
using isolation::Report;
using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

uint64_t shm_bytes(const isolation::Limits& limits) {
  constexpr uint64_t kDefault = uint64_t{512} << 20;
  return limits.memory_bytes
             ? std::min(kDefault, std::max<uint64_t>(*limits.memory_bytes / 2, 4096))
             : kDefault;
}

Place::Kind kind_of(Node::Kind kind) {
  switch (kind) {
    case Node::kHost:
      return Place::kHost;
    case Node::kSource:
      return Place::kSource;
    case Node::kEmpty:
      return Place::kEmpty;
    case Node::kNothing:
      return Place::kNothing;
    case Node::kLink:
      return Place::kLink;
    case Node::kProc:
      return Place::kProc;
    case Node::kDevices:
      return Place::kDevices;
    case Node::kReadOnly:
    case Node::kWritable:
      return Place::kReadOnly;
    default:
      return Place::kShared;
  }
}

// Kernel objects that processes of one user share however many namespaces they are in. None of these
// numbers stands in a normal program's way; each stops one that wants them all.
std::vector<std::string> kernel_limits() {
  return {"max_user_namespaces 0",     "max_pid_namespaces 1024",  "max_mnt_namespaces 1024",
          "max_net_namespaces 16",     "max_uts_namespaces 4",     "max_ipc_namespaces 4",
          "max_cgroup_namespaces 4",   "max_time_namespaces 4",    "max_inotify_instances 64",
          "max_inotify_watches 65536", "max_fanotify_groups 0",    "max_fanotify_marks 0"};
}

void pin_above(const std::string& target, std::vector<Place>& places) {
  std::string at;
  const auto parts = isolation::parts_of(target);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    at += "/" + parts[i];
    const bool known = std::any_of(places.begin(), places.end(),
                                   [&](const Place& place) { return place.target == at; });
    if (!known) places.push_back({Place::kPin, 0, at, {}});
  }
}

// chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service, sys_chroot: what a
// package manager needs, among the sandbox's own ids.
constexpr uint64_t kPackages = 1u << 0 | 1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 |
                               1u << 10 | 1u << 18;

// Whether others on the host can come to what lies in a folder of which `owner` has the files. What is
// above it decides: its own mode is the sandbox's to change.
bool within_reach(const std::string& folder, uint32_t owner) {
  for (std::string at = folder; at != "/";) {
    at = isolation::parent_of(at);
    struct stat st {};
    if (::stat(at.c_str(), &st) != 0) return true;
    const bool ours = st.st_uid == 0 || st.st_uid == owner;
    if (ours && (st.st_mode & (S_IXGRP | S_IXOTH)) == 0) return false;
  }
  return true;
}

// A source whose files, made inside, run on the host as its owner for whoever starts them there, were
// they marked so; null: none.
const isolation::Source* reached_source(const Prepared& p) {
  for (const auto& source : p.view.sources) {
    // An ordinary user's own files keep his id.
    const uint32_t owner = p.sub_ids != nullptr ? p.who.uid : source.owner;
    if (owner != isolation::kNobody && within_reach(source.path, owner)) return &source;
  }
  return nullptr;
}

// Where a source and what lies in it can be written to, as seen inside.
void add_writable(const isolation::View& view, const std::string& target, size_t source,
                  std::vector<std::string>& out) {
  if (view.sources[source].read_only == 0) out.push_back(target);
  for (const auto& inner : view.sources[source].inner) {
    const std::string path = isolation::join(target, inner.path);
    if (inner.kind == isolation::InnerMount::kSource) add_writable(view, path, inner.source, out);
    if (inner.kind == isolation::InnerMount::kWritable) out.push_back(path);
  }
}

}  // namespace

void draw_sub_ids(const isolation::Identity& who, const isolation::SubIds& sub_ids, Blueprint& b) {
  b.ids = isolation::map_around(who.inside_uid, who.uid, sub_ids.users);
  b.groups = isolation::map_around(who.inside_gid, who.gid, sub_ids.groups);
  b.map_users = sub_ids.newuidmap;
  b.map_groups = sub_ids.newgidmap;
}

void draw(Prepared& p) {
  Blueprint& b = p.blueprint;
  const bool root = p.who.ids == Ids::kShifted;
  b.privileged = root ? 1 : 0;
  if (root) {
    b.ids = b.groups = {{0, p.who.uid - p.who.inside_uid, isolation::kIdRanges.width}};
    b.kernel_uid = p.who.uid;
    b.kernel_gid = p.who.gid;
  } else if (p.sub_ids != nullptr) {
    draw_sub_ids(p.who, *p.sub_ids, b);
  } else {
    b.ids = {{p.who.inside_uid, p.who.uid, 1}};
    b.groups = {{p.who.inside_gid, p.who.gid, 1}};
  }
  b.shm_bytes = shm_bytes(p.profile.limits);
  b.sources = p.view.sources;
  const bool image = p.profile.root == "image";
  if (image) {
    b.image = 1;
    b.sources.front().read_only = 1;
  }
  for (const auto& [target, node] : p.view.steps) {
    if (node.kind == Node::kWritable) continue;  // as all of an image's root is
    // Who may rename a folder above what is protected could put another in its place.
    const bool guarded = node.kind == Node::kReadOnly || node.kind == Node::kEmpty ||
                         node.kind == Node::kNothing;
    if (image && guarded) pin_above(target, b.places);
    Place place;
    place.kind = kind_of(node.kind);
    place.source = static_cast<uint32_t>(node.source);
    place.target = target;
    place.text = node.link;
    if (image && target == "/") place.kind = Place::kImage;
    b.places.push_back(std::move(place));
  }
  // An image names its own users.
  if (!image) {
    for (auto& [path, text] : isolation::name_files(p.profile, p.who, p.view.home)) {
      b.places.push_back({Place::kText, 0, path, std::move(text)});
    }
  } else if (p.profile.network == isolation::Network::kUnrestricted) {
    std::string text;
    if (isolation::read_file("/etc/resolv.conf", text)) {
      b.places.push_back({Place::kText, 0, "/etc/resolv.conf", std::move(text)});
    }
  }
  b.seal = p.view.seal;
  b.kernel = kernel_limits();

  Entry& e = p.entry;
  e.uid = p.who.inside_uid;
  e.gid = p.who.inside_gid;
  e.own_network = p.profile.network == isolation::Network::kUnrestricted ? 0 : 1;
  e.drop_groups = root || p.sub_ids != nullptr ? 1 : 0;
  if (p.profile.packages && e.drop_groups != 0) e.capabilities = kPackages;
  p.set_ids = e.capabilities != 0 && reached_source(p) == nullptr;
  for (const auto& [target, node] : p.view.steps) {
    if (node.kind == Node::kSource) add_writable(p.view, target, node.source, e.writable);
  }
  for (const auto& rule : p.profile.files) {
    const auto& absent = p.view.absent;
    if (rule.access == isolation::Access::kReadWrite) continue;
    if (std::find(absent.begin(), absent.end(), rule.path) == absent.end()) continue;
    const bool hide = rule.access == isolation::Access::kHide;
    e.late.push_back({hide ? Place::kNothing : Place::kHost, 0, rule.path, {}});
  }
}

namespace {

void report_view(const Prepared& p, Report& report) {
  const isolation::Profile& profile = p.profile;
  if (profile.root == "host") report.enforced("root.view", "mount", "host");
  if (profile.root == "image") report.enforced("root.image", "overlay of the sandbox's own");
  if (profile.root == "snapshot") report.unsupported("root.snapshot", "this backend has none yet");
  const char* by = p.who.ids == Ids::kShifted ? "mount, id-mapped" : "mount";
  if (profile.workspace) {
    const bool rw = profile.workspace->access == isolation::Access::kReadWrite;
    report.enforced("workspace", by,
                    json::object({{"path", p.view.cwd}, {"access", rw ? "rw" : "ro"}}));
  }
  report.enforced("home", by, isolation::word(p.view.home));
  report.enforced("tmp", by, "/tmp");
  for (const auto& o : p.view.outcomes) {
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
    report.unsupported("network.mode", "there is no filter by name yet; choose off or unrestricted",
                       isolation::word(profile.network_word));
  }
  if (profile.network_rules) report.unsupported("network.allow", "there is no filter by name yet");
}

void report_guarantees(const Prepared& p, const Tools& tools, Report& report) {
  if (p.profile.shared_processes) {
    report.enforced("processes", "pid namespace of the sandbox", "sandbox");
    report.enforced("isolation.pid", "pid namespace of the sandbox");
  } else {
    report.enforced("processes", "pid namespace of each command", "command");
    report.enforced("isolation.pid", "pid namespace of each command");
  }
  report.enforced("isolation.end", "pid namespace, parent-death signal, pidfd of the host");
  if (p.entry.capabilities != 0) {
    const isolation::Source* reached = p.set_ids ? nullptr : reached_source(p);
    if (reached == nullptr) {
      report.enforced("capabilities",
                      p.sub_ids != nullptr ? "user namespace with ids of /etc/subuid" : "user namespace",
                      "packages");
    } else {
      report.partial("capabilities", "user namespace",
                     "files that run as their owner or group (set-user-id) cannot be made, and packages "
                     "that bring some fail: others on the host can reach " + sdk::to_utf8(reached->path) +
                         ", and would run such a file as its owner there; put it below a folder "
                         "that is closed to them (mode 0700)",
                     "packages");
    }
    report.enforced("isolation.capabilities", "those for packages, no_new_privs, user namespace");
  } else {
    if (p.profile.packages) {
      report.unsupported("capabilities",
                         "a sandbox that an ordinary user starts has one id, and package managers "
                         "need several, but " + tools.sub_ids.why + "; or start Bulkhead as root");
    } else {
      report.enforced("capabilities", "none, no_new_privs", "none");
    }
    report.enforced("isolation.capabilities", "none, no_new_privs, user namespace");
  }
  report.enforced("isolation.seccomp", "seccomp", "allow list");
  report.enforced("isolation.ipc", "ipc and uts namespaces");
  report.enforced("isolation.devices", "a /dev of its own; nodev elsewhere");
  report.enforced("isolation.nested_users", "seccomp, user.max_user_namespaces");
  const int landlock = isolation::landlock_version();
  if (p.profile.network == isolation::Network::kOff) {
    report.enforced("isolation.abstract_sockets", "network namespace");
  } else if (landlock >= isolation::kLandlockScopes) {
    report.enforced("isolation.abstract_sockets", "Landlock scope");
  } else {
    report.unsupported("isolation.abstract_sockets",
                       "the host's network holds the host's sockets without a path, and this kernel "
                       "cannot keep them apart; that takes Linux 6.12 with Landlock");
  }
  if (landlock >= 1) {
    report.enforced("isolation.second_wall", "Landlock", int64_t{landlock});
  } else {
    report.unsupported("isolation.second_wall",
                       "this kernel has no Landlock, or it is off: files are kept by mounts alone");
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
  report.enforced("isolation.kernel_uid",
                  p.who.ids == Ids::kShifted ? "a range of ids of the persona's own, id-mapped mounts"
                  : p.sub_ids != nullptr     ? "the user's own id, and a range of his"
                                             : "the user's own id",
                  int64_t{p.who.uid});
}

sdk::Result<isolation::Identity> identity(const PrepareRequest& request,
                                          const isolation::Profile& profile) {
  if (::geteuid() != 0) return isolation::identity_for(profile, Ids::kOwn, 0);
  auto first = request.tools->personas.id_of(profile.persona, request.take_id);
  if (!first) return std::move(first).failure();
  isolation::Identity who = isolation::identity_for(profile, Ids::kShifted, 0);
  who.uid = *first + who.inside_uid;
  who.gid = *first + who.inside_gid;
  return who;
}

}  // namespace

sdk::Result<Prepared> prepare(const PrepareRequest& request) {
  auto profile = isolation::parse_profile(request.profile);
  if (!profile) return std::move(profile).failure();
  Prepared p;
  p.profile = std::move(*profile);
  if (auto st = isolation::check_user_name(p.profile.user); !st) return std::move(st).failure();
  auto who = identity(request, p.profile);
  if (!who) return std::move(who).failure();
  p.who = std::move(*who);
  isolation::ViewRequest view;
  view.profile = &p.profile;
  view.who = &p.who;
  view.environment = &request.tools->environment;
  view.own_home = request.own_home;
  view.own_tmp = request.own_tmp;
  view.absent = request.absent;
  view.own = &request.tools->own;
  auto made = isolation::make_view(view);
  if (!made) return std::move(made).failure();
  p.view = std::move(*made);
  if (p.profile.packages && p.who.ids == Ids::kOwn && request.tools->sub_ids.usable()) {
    p.sub_ids = &request.tools->sub_ids;
  }
  draw(p);
  p.blueprint.upper = request.upper;

  p.report = Report("ns");
  report_view(p, p.report);
  report_network(p.profile, p.report);
  isolation::report_limits(p.profile.limits, request.tools->cgroups, true, p.report);
  if (p.profile.limits.disk_bytes) {
    p.report.partial("limits.disk_bytes", "RLIMIT_FSIZE", "of each file, not of all together",
                     static_cast<int64_t>(*p.profile.limits.disk_bytes));
  }
  p.report.enforced("env.allow", "environment");
  if (!p.profile.env_set.empty()) p.report.enforced("env.set", "environment");
  if (p.profile.uid) p.report.enforced("user.uid", "user namespace", int64_t{p.who.inside_uid});
  if (p.profile.gid) p.report.enforced("user.gid", "user namespace", int64_t{p.who.inside_gid});
  if (!p.profile.user.empty()) {
    p.report.enforced("user.name", "mount of /etc/passwd", isolation::word(p.who.name));
  }
  if (p.who.ids == Ids::kShifted) {
    p.report.enforced("persona", "ids of its own");
  } else {
    p.report.partial("persona", "mount",
                     "files, processes and sockets are apart; all have one id of the host, and "
                     "share what the kernel counts per user (inotify, locked memory) among more "
                     "than one or two sandboxes that use all of their part");
  }
  report_guarantees(p, *request.tools, p.report);
  return p;
}

Status acceptable(const Prepared& p) {
  if (p.profile.root == "snapshot") {
    return failure(BH_FAILED_PRECONDITION, "ns has no snapshots yet", "not_enforced",
                   "root.snapshot", "start from the host's view or from an image");
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

}  // namespace ns
