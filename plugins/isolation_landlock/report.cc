// The enforcement report: what holds, by what, and what does not although one might think so.
#include <bulkhead/sdk/isolation/report_limits.hpp>

#include "prepare.h"

namespace landlocked {

using isolation::Access;
using isolation::Outcome;
using isolation::Report;
using isolation::word;
namespace json = sdk::json;

namespace {

constexpr char kBy[] = "Landlock";
constexpr char kSeen[] =
    "denied, not hidden: that it is there can be asked by its path, with its size, dates and "
    "attributes, and where a link leads";

std::string listed(const std::vector<std::string>& paths) {
  constexpr size_t kMost = 8;
  std::string out;
  for (size_t i = 0; i < paths.size() && i < kMost; ++i) {
    out += (i == 0 ? "" : ", ") + sdk::to_utf8(paths[i]);
  }
  if (paths.size() > kMost) out += " and " + std::to_string(paths.size() - kMost) + " more";
  return out;
}

std::vector<std::string> those_in(const std::vector<std::string>& paths,
                                  const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& path : paths) {
    if (isolation::is_within(path, folder)) out.push_back(path);
  }
  return out;
}

// Whether id 0, without capabilities, gets there as whoever owns the folder lets it.
bool reachable(const Identity& who, const std::string& path, bool write) {
  if (who.ids != Ids::kRoot) return ::access(path.c_str(), write ? R_OK | W_OK | X_OK : R_OK) == 0;
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || !who.may(st, write ? 7 : 5)) return false;
  for (std::string at = path; at != "/";) {
    at = isolation::parent_of(at);
    if (::stat(at.c_str(), &st) != 0 || !who.may(st, 1)) return false;
  }
  return true;
}

void report_place(const Identity& who, const char* rule, const isolation::Profile::Place* place,
                  const std::string& path, const Grants& grants, Report& report) {
  const bool rw = place == nullptr || place->access == Access::kReadWrite;
  json::value value = json::object({{"path", path}, {"access", rw ? "rw" : "ro"}});
  std::string why;
  if (place != nullptr && !place->path.empty() && place->path != path) {
    why = "nothing can be mounted: it is at " + sdk::to_utf8(path) + ", not at " +
          sdk::to_utf8(place->path);
  }
  if (!reachable(who, path, rw)) {
    why += (why.empty() ? "" : "; ") +
           ("its owner and mode keep the id " + std::to_string(who.uid) + " from using it");
  }
  const auto closed = those_in(grants.closed, path);
  if (!closed.empty()) {
    why += (why.empty() ? "" : "; ") +
           ("nothing new can be made right in " + listed(closed) +
            ", which hold something that is not writable");
  }
  if (why.empty()) {
    report.enforced(rule, kBy, std::move(value));
  } else {
    report.partial(rule, kBy, std::move(why), std::move(value));
  }
}

bool is_about(const std::string& path, std::initializer_list<const char*> folders) {
  for (const char* folder : folders) {
    if (isolation::is_within(path, folder)) return true;
  }
  return false;
}

void report_files(const Prepared& p, const Seen& seen, Report& report) {
  for (const Outcome& o : seen.view->outcomes) {
    if (o.state == Outcome::kEnforced) report.enforced(o.rule, kBy);
    if (o.state == Outcome::kPartial) report.partial(o.rule, kBy, o.reason);
    if (o.state == Outcome::kUnsupported) report.unsupported(o.rule, o.reason);
  }
  for (const auto& rule : p.profile.files) {
    const std::string name = "files:" + sdk::to_utf8(rule.path);
    const auto* line = report.find(name);
    if (line == nullptr || line->state == Report::State::kUnsupported) continue;
    const bool own = rule.access == Access::kHide ? false
                     : isolation::is_within(rule.path, p.cwd) ||
                           isolation::is_within(rule.path, p.home);
    if (!own && is_about(rule.path, {"/proc", "/sys", "/dev"})) {
      report.partial(name, kBy, "of /proc, /sys and /dev only what tells of the machine and the "
                                "harmless devices can be opened");
    } else if (!own && rule.access != Access::kHide && is_about(rule.path, {"/tmp", "/var/tmp"})) {
      report.unsupported(name, "/tmp and /var/tmp are the host's, and denied; TMPDIR names the "
                               "sandbox's own");
    } else if (rule.access == Access::kHide) {
      report.partial(name, kBy, line->reason.empty() ? kSeen : line->reason + "; " + kSeen);
    }
  }
  for (const auto& mount : p.profile.mounts) {
    const std::string source = isolation::canonical(mount.source);
    const std::string rule = "mounts:" + sdk::to_utf8(mount.path);
    if (source == mount.path) {
      report.enforced(rule, kBy);
    } else {
      report.partial(rule, kBy,
                     "nothing can be mounted: it is at " + sdk::to_utf8(source) + ", not at " +
                         sdk::to_utf8(mount.path));
    }
  }
}

void report_network(const isolation::Profile& profile, Report& report) {
  if (profile.network == isolation::Network::kOff) {
    report.put({"network.mode", Report::State::kEnforced, "seccomp, Landlock",
                "no sockets but local ones: there is no loopback either", "off"});
  } else if (profile.network == isolation::Network::kUnrestricted) {
    report.enforced("network.mode", "the host's network", "unrestricted");
  } else {
    report.unsupported("network.mode",
                       "Landlock knows ports and no names; choose off or unrestricted, or a "
                       "backend with a filter by name",
                       word(profile.network_word));
  }
  if (profile.network_rules) {
    report.unsupported("network.allow", "Landlock knows ports and no names");
  }
}

void report_user(const Prepared& p, Report& report) {
  const std::string why = "there is no user namespace: commands have the id " +
                          std::to_string(p.who.uid) + " of whoever started Bulkhead";
  if (p.profile.uid) report.unsupported("user.uid", why, int64_t{p.who.uid});
  if (p.profile.gid) report.unsupported("user.gid", why, int64_t{p.who.gid});
  if (!p.profile.user.empty()) report.unsupported("user.name", why, word(p.who.name));
  report.partial("persona", "Landlock, seccomp",
                 "files, processes, sockets and shared memory are apart; all have one id of the "
                 "host, and with it its limits (watches, processes without a control group) and "
                 "what can be asked about a file without opening it");
  if (p.who.ids == Ids::kRoot) {
    report.partial("isolation.kernel_uid", "no capabilities, Landlock, seccomp",
                   "commands have the kernel's id 0, without capabilities: another id could not "
                   "reach the workspace, and files cannot be mapped without namespaces. What only "
                   "root may read in /etc and right in /var is denied; elsewhere it can be read, "
                   "also through device files outside of /dev. Start Bulkhead as an ordinary user, "
                   "or use a backend with namespaces",
                   int64_t{0});
  } else {
    report.enforced("isolation.kernel_uid", "the user's own id", int64_t{p.who.uid});
  }
}

void report_guarantees(const Tools& tools, const Prepared& p, const Seen& seen, Report& report) {
  report.put({"isolation.pid", Report::State::kEnforced,
              tools.version >= isolation::kLandlockScopes
                  ? "Landlock, seccomp"
                  : "Landlock, seccomp: signals by the keeper",
              "which numbers are taken can be found out, with group and priority",
              nullptr});
  report.enforced("isolation.end",
                  tools.cgroups.version != 0
                      ? "subreapers, parent-death signal, pidfd of the host, control group"
                      : "subreapers, parent-death signal, pidfd of the host");
  report.enforced("isolation.capabilities", "none, no_new_privs");
  report.enforced("isolation.seccomp", "seccomp", "allow list");
  report.put({"isolation.ipc", Report::State::kEnforced, "seccomp, Landlock",
              "there is none: System V and POSIX shared memory, queues and semaphores are refused",
              nullptr});
  report.enforced("isolation.abstract_sockets", "seccomp");
  report.put({"isolation.local_sockets", Report::State::kEnforced, "seccomp",
              p.profile.network == isolation::Network::kOff
                  ? "connected to are those in the sandbox's own writable folders"
                  : "with a network there are pairs and no others: what a socket connects to "
                    "cannot be told apart",
              nullptr});
  report.enforced("isolation.file_settings",
                  "seccomp: modes, owners and times by the keeper, attributes refused");
  json::array hidden;
  for (const auto& path : seen.view->hidden) hidden.emplace_back(path);
  report.partial("isolation.hides", kBy, kSeen, std::move(hidden));
  if (seen.view->own_by_file) {
    report.partial("isolation.own_program", kBy,
                   "Bulkhead's own program or library lies right in a folder that is writable "
                   "inside: the file is read-only, and nothing new can be made beside it");
  } else {
    report.enforced("isolation.own_program", kBy);
  }
  report.partial("isolation.devices", kBy,
                 "of /dev the harmless ones can be opened; a device file that stands in another "
                 "folder, as in an unpacked system, is opened as its owner and mode allow");
  report.enforced("isolation.nested_users", "seccomp");
}

}  // namespace

void fill_report(const Tools& tools, const Seen& seen, Prepared& p) {
  p.report = Report("landlock", std::to_string(tools.version));
  Report& report = p.report;
  const auto& unlisted = seen.grants->unlisted;
  if (tools.version < 3) {
    report.partial("root.view", "Landlock, seccomp",
                   "folders that hold something hidden cannot be listed: " + listed(unlisted) +
                       "; what empties a file without opening it for writing is refused anywhere",
                   "host");
  } else {
    report.partial("root.view", kBy,
                   "folders that hold something hidden cannot be listed: " + listed(unlisted),
                   "host");
  }
  if (p.profile.root != "host") {
    report.unsupported("root." + p.profile.root,
                       "this backend shows the host's own files only");
  }
  if (p.profile.workspace) {
    report_place(p.who, "workspace", &*p.profile.workspace, p.cwd, *seen.grants, report);
  }
  report_place(p.who, "home", p.profile.home ? &*p.profile.home : nullptr, p.home, *seen.grants,
               report);
  report.partial("tmp", "Landlock, TMPDIR",
                 "/tmp and /var/tmp are the host's, and denied; TMPDIR names the sandbox's own, " +
                     sdk::to_utf8(p.tmp),
                 word(p.tmp));
  report_files(p, seen, report);
  report_network(p.profile, report);
  isolation::report_limits(p.profile.limits, tools.cgroups, false, report);
  if (p.profile.limits.wall_ms) {
    report.enforced("limits.wall_ms", "supervisor",
                    static_cast<int64_t>(*p.profile.limits.wall_ms));
  }
  if (p.profile.limits.disk_bytes) {
    report.partial("limits.disk_bytes", "RLIMIT_FSIZE",
                   "of each file, not of all together: there is no quota",
                   static_cast<int64_t>(*p.profile.limits.disk_bytes));
  }
  report.enforced("env.allow", "environment");
  if (!p.profile.env_set.empty()) report.enforced("env.set", "environment");
  report_user(p, report);
  report_guarantees(tools, p, seen, report);
}

}  // namespace landlocked
