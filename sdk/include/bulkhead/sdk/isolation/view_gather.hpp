// bulkhead/sdk/isolation/view_gather.hpp - the places inside a sandbox that are not simply what the
// host shows there, by path: the first half of make_view(), which settles what; view_layout.hpp
// settles how.
#ifndef BULKHEAD_SDK_ISOLATION_VIEW_GATHER_HPP
#define BULKHEAD_SDK_ISOLATION_VIEW_GATHER_HPP

#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "aliases.hpp"
#include "view.hpp"

namespace bulkhead::sdk::isolation {

struct Placed {
  std::string target;  // inside
  bool named = false;  // by the host itself: may lie in what is hidden
  bool ours = false;   // HOME or tmp: mount points may be made in it
};

class Gather {
 public:
  Gather(const ViewRequest& request, View& view) : request_(request), view_(view) {}
  Status run();

  Nodes nodes;
  std::vector<Placed> placed;  // one per source

 private:
  Status add_source(const std::string& source, Access access, const std::string& field,
                    Placed placing, bool mapped);
  Status check_target(const std::string& target, const std::string& field) const;
  Status add_image();
  Status add_places();
  Status add_rule(const Profile::Rule& rule);
  Status add_rule_below(const Profile::Rule& rule, size_t source, const std::string& target,
                        Outcome& outcome);
  Status add_rule_host(const Profile::Rule& rule, const std::string& target, Outcome& outcome);
  void add_hidden();
  void add_credentials();
  void add_resolver();
  void add_own();
  bool shown_writable(const std::string& target, size_t source) const;
  void add_root_secrets();
  void add_secrets_in(const std::string& folder, int deep);
  void add_kernel_settings();
  void mask_everywhere(const std::string& host_path);
  void mask_proc_in(const std::string& target);
  void mask_at(const std::string& target, const std::string& host_path);
  // The source that shows `target`, or none: -1.
  int source_at(const std::string& target) const;
  std::string host_of(const std::string& target) const;
  bool below_mask(const std::string& target) const;
  bool always_hidden(const std::string& host_path) const;

  const ViewRequest& request_;
  View& view_;
  const MountTable mounts_ = MountTable::here();
  std::vector<std::string> hides_;  // canonical, with their aliases
};

namespace detail {

// Writable to nobody's commands, whatever a profile says: who may write there owns the machine.
inline const std::vector<std::string> kSystemTrees = {"/proc", "/sys", "/dev", "/boot",  "/etc",  "/bin",
                                               "/sbin", "/lib", "/usr", "/lib32", "/lib64"};
inline const std::vector<std::string> kSystemFolders = {"/", "/var", "/run", "/home", "/root", "/opt"};

inline bool is_system(const std::string& path) {
  if (std::find(kSystemFolders.begin(), kSystemFolders.end(), path) != kSystemFolders.end()) {
    return true;
  }
  return std::any_of(kSystemTrees.begin(), kSystemTrees.end(),
                     [&](const std::string& tree) { return is_within(path, tree); });
}

inline bool look(const std::string& path, struct stat& st) { return ::lstat(path.c_str(), &st) == 0; }

}  // namespace detail

inline int Gather::source_at(const std::string& target) const {
  int best = -1;
  for (size_t i = 0; i < placed.size(); ++i) {
    if (!is_within(target, placed[i].target)) continue;
    if (best < 0 || placed[i].target.size() > placed[static_cast<size_t>(best)].target.size()) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

inline std::string Gather::host_of(const std::string& target) const {
  const int i = source_at(target);
  if (i < 0) return target;
  const auto n = static_cast<size_t>(i);
  return join(view_.sources[n].path, rest_of(target, placed[n].target));
}

inline bool Gather::always_hidden(const std::string& host_path) const {
  return std::any_of(hides_.begin(), hides_.end(),
                     [&](const std::string& hide) { return is_within(host_path, hide); });
}

inline bool Gather::below_mask(const std::string& target) const {
  for (std::string at = target; at != "/";) {
    at = parent_of(at);
    const auto it = nodes.find(at);
    if (it == nodes.end()) continue;
    return it->second.kind == Node::kEmpty;
  }
  return false;
}

// A mount point in a source: no link on the way, and there already, or in a folder of ours.
inline Status Gather::check_target(const std::string& target, const std::string& field) const {
  const int around = source_at(target);
  if (around < 0) return {};
  const auto n = static_cast<size_t>(around);
  const std::string rest = rest_of(target, placed[n].target);
  const Fd fd = open_beneath(view_.held[n].get(), rest.empty() ? "." : rest);
  const int error = errno;
  struct stat st {};
  const bool link = fd ? ::fstat(fd.get(), &st) == 0 && S_ISLNK(st.st_mode) : error == ELOOP;
  if (link) {
    return failure(BH_FAILED_PRECONDITION,
                   field + ": " + target +
                       " goes through a link below a "
                       "folder that is mounted",
                   "link", field, "choose a path without links");
  }
  if (fd || placed[n].ours) return {};
  return failure(BH_FAILED_PRECONDITION,
                 field + ": " + target + " does not exist in " + view_.sources[n].path +
                     ", and nothing is made there for a mount",
                 "mount_point", field, "make it, or choose another path inside");
}

inline Status Gather::add_source(const std::string& source, Access access, const std::string& field,
                          Placed placing, bool mapped) {
  // The host has settled and judged what it names itself. A link that stands there now came later,
  // from a sandbox that may write above it perhaps, and is not followed.
  const std::string path = placing.named ? source : canonical(source);
  Fd fd = path.empty() ? Fd() : open_canonical(path);
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) {
    return failure(BH_FAILED_PRECONDITION,
                   field + ": " + to_utf8(source) + " cannot be opened: " + ::strerror(errno),
                   "source", field, "make it, or name another folder");
  }
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
    return failure(BH_INVALID_ARGUMENT, field + ": " + path + " is neither a folder nor a file",
                   "source", field, "name a folder or a plain file");
  }
  if (is_within(path, "/proc")) {
    return failure(BH_PERMISSION_DENIED,
                   field + ": " + path + " tells of the host's processes; a sandbox has a /proc of "
                                         "its own",
                   "hidden", field, "leave it out");
  }
  if (access == Access::kReadWrite && detail::is_system(path)) {
    return failure(BH_PERMISSION_DENIED,
                   field + ": " + path + " belongs to the system and is never writable inside",
                   "system_folder", field, "name a folder of your own, or ask for read-only");
  }
  if (!placing.named && always_hidden(path)) {
    return failure(BH_PERMISSION_DENIED,
                   field + ": " + path + " lies in a folder that no sandbox sees", "hidden", field,
                   "name a folder outside of Bulkhead's own data");
  }
  std::string& target = placing.target;
  if (target.empty()) target = path;
  // Below a source links belong to whoever writes there; elsewhere the host's are followed once.
  if (source_at(target) < 0) target = canonical_start(target);
  if (auto s = check_target(target, field); !s) return s;
  if (target == "/") {
    return failure(BH_INVALID_ARGUMENT, field + ": / inside cannot be replaced", "path", field,
                   "choose a folder below /");
  }
  Source made;
  made.device = st.st_dev;
  made.inode = st.st_ino;
  made.path = path;
  made.read_only = access == Access::kReadWrite ? 0 : 1;
  if (mapped && request_.who->ids == Ids::kShifted) {
    made.owner = st.st_uid;
    made.group = st.st_gid;
  }
  nodes[target] = Node{Node::kSource, view_.sources.size(), {}};
  placed.push_back(std::move(placing));
  view_.sources.push_back(std::move(made));
  view_.held.push_back(std::move(fd));
  return {};
}

// All that lies in it is a matter of the image's own files, none of the host's paths.
inline Status Gather::add_image() {
  const std::string& image = request_.profile->image;
  const std::string path = !image.empty() && image[0] == '/' ? canonical(image) : std::string();
  Fd fd = path.empty() ? Fd() : open_canonical(path);
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return failure(BH_FAILED_PRECONDITION,
                   "root.image: " + to_utf8(request_.profile->image) + " is no folder", "source",
                   "root.image", "import the image again");
  }
  Source made;
  made.device = st.st_dev;
  made.inode = st.st_ino;
  made.path = path;
  nodes["/"] = Node{Node::kSource, 0, {}};
  placed.push_back({"/", true, true});
  view_.sources.push_back(std::move(made));
  view_.held.push_back(std::move(fd));
  return {};
}

inline Status Gather::add_places() {
  const Profile& p = *request_.profile;
  view_.home = p.home && !p.home->path.empty() ? p.home->path : "/home/agent";
  view_.cwd = view_.home;
  const std::string home = p.home ? p.home->source : request_.own_home;
  const std::string tmp = p.tmp ? p.tmp->source : request_.own_tmp;
  if (!home.empty()) {
    if (auto st = add_source(home, Access::kReadWrite, "home", {view_.home, true, true}, true);
        !st) {
      return st;
    }
    view_.home = placed.back().target;
  }
  if (!tmp.empty()) {
    struct stat st {};
    for (const char* target : {"/tmp", "/var/tmp"}) {
      if (std::string(target) != "/tmp" && (!detail::look(host_of(target), st) || !S_ISDIR(st.st_mode))) {
        continue;
      }
      if (auto s = add_source(tmp, Access::kReadWrite, "tmp", {target, true, true}, true); !s) {
        return s;
      }
    }
  }
  if (p.workspace) {
    if (auto st = add_source(p.workspace->source, p.workspace->access, "workspace",
                             {p.workspace->path, true, false}, true);
        !st) {
      return st;
    }
    view_.cwd = placed.back().target;
  }
  for (const auto& mount : p.mounts) {
    const std::string rule = "mounts:" + mount.path;
    const bool writable = mount.access == Access::kReadWrite;
    if (auto st =
            add_source(mount.source, mount.access, rule, {mount.path, false, false}, writable);
        !st) {
      return st;
    }
    view_.outcomes.push_back({Outcome::kEnforced, rule, {}});
  }
  return {};
}

inline void Gather::mask_at(const std::string& target, const std::string& host_path) {
  struct stat st {};
  if (!detail::look(host_path, st) || S_ISLNK(st.st_mode)) return;
  // A source of the host's own that stands exactly there was named to be seen.
  const auto it = nodes.find(target);
  if (it != nodes.end() && it->second.kind == Node::kSource && placed[it->second.source].named) {
    return;
  }
  nodes[target] = Node{S_ISDIR(st.st_mode) ? Node::kEmpty : Node::kNothing, 0, {}};
}

// Wherever the sandbox would see it: at its own path, through other mounts of the host, and in
// sources that hold it.
// Where a source shows the host's whole tree, its /proc would tell of the host's processes.
inline void Gather::mask_proc_in(const std::string& target) {
  const std::string inside = join(target, "proc");
  if (host_of(inside) == "/proc") mask_at(inside, "/proc");
}

inline void Gather::mask_everywhere(const std::string& host_path) {
  std::vector<std::string> paths = mounts_.aliases(host_path);
  paths.push_back(host_path);
  for (const std::string& path : paths) {
    if (host_of(path) == path) mask_at(path, path);
    for (size_t i = 0; i < placed.size(); ++i) {
      if (!is_within(path, view_.sources[i].path)) continue;
      const std::string target = join(placed[i].target, rest_of(path, view_.sources[i].path));
      if (host_of(target) == path) mask_at(target, path);
    }
  }
}

inline Status Gather::add_rule_host(const Profile::Rule& rule, const std::string& target,
                             Outcome& outcome) {
  const std::string found = canonical(target);
  if (found.empty()) {
    if (rule.access == Access::kReadWrite) {
      outcome.state = Outcome::kUnsupported;
      outcome.reason = "it does not exist; make it first";
    }
    // Absent in a read-only place: it stays absent.
    return {};
  }
  struct stat st {};
  if (rule.access == Access::kHide) {
    mask_everywhere(found);
    if (detail::look(found, st) && S_ISREG(st.st_mode) && st.st_nlink > 1) {
      outcome.state = Outcome::kPartial;
      outcome.reason = "the file has other hard links, which may be visible elsewhere";
    }
    return {};
  }
  if (rule.access == Access::kReadOnly && !below_mask(found)) return {};
  return add_source(found, rule.access, outcome.rule, {found, false, false}, true);
}

inline Status Gather::add_rule_below(const Profile::Rule& rule, size_t source,
                              const std::string& target, Outcome& outcome) {
  const std::string rest = rest_of(target, placed[source].target);
  if (rest.empty()) {
    if (rule.access == Access::kHide) {
      nodes[target] = Node{Node::kEmpty, 0, {}};
    } else {
      view_.sources[source].read_only = rule.access == Access::kReadOnly ? 1 : 0;
    }
    return {};
  }
  const std::string host_path = join(view_.sources[source].path, rest);
  const Fd found = open_beneath(view_.held[source].get(), rest);
  const int error = errno;
  struct stat st {};
  if (found && ::fstat(found.get(), &st) == 0 && S_ISLNK(st.st_mode)) {
    return failure(BH_FAILED_PRECONDITION, outcome.rule + " is a link", "link", outcome.rule,
                   "write the rule about what it leads to");
  }
  if (!found) {
    const bool known = request_.absent != nullptr && request_.absent->count(rule.path) != 0;
    if (error != ENOENT && error != ENOTDIR && !known) {
      return failure(BH_FAILED_PRECONDITION,
                     outcome.rule + (error == ELOOP ? " goes through a link below a folder that is "
                                                      "writable inside"
                                                    : std::string(": ") + ::strerror(error)),
                     "link", outcome.rule, "write the path that it leads to, or drop the rule");
    }
    view_.absent.push_back(rule.path);
    if (rule.access == Access::kReadWrite || view_.sources[source].read_only != 0) return {};
    outcome.state = Outcome::kPartial;
    outcome.reason =
        "it does not exist, and a mount cannot keep a name free in a writable folder without "
        "leaving a file on the host; it holds for commands that start once it is there";
    return {};
  }
  if (rule.access == Access::kHide) {
    mask_everywhere(host_path);
  } else if (below_mask(target)) {
    auto added = add_source(host_path, rule.access, outcome.rule, {target, false, false}, true);
    if (added && view_.sources.back().path != host_path) {
      return failure(BH_FAILED_PRECONDITION, outcome.rule + " became a link while it was looked at",
                     "link", outcome.rule, "try again");
    }
    return added;
  } else {
    nodes[target] =
        Node{rule.access == Access::kReadOnly ? Node::kReadOnly : Node::kWritable, 0, {}};
  }
  if (rule.access == Access::kHide && S_ISREG(st.st_mode) && st.st_nlink > 1) {
    outcome.state = Outcome::kPartial;
    outcome.reason = "the file has other hard links, which may be visible elsewhere";
  }
  return {};
}

inline Status Gather::add_rule(const Profile::Rule& rule) {
  Outcome outcome;
  outcome.rule = "files:" + to_utf8(rule.path);
  std::string target = rule.path;
  int source = source_at(target);
  if (source < 0) {
    // Where the host's links lead, which may be into one of the sources.
    target = canonical_start(target);
    source = source_at(target);
  }
  Status st;
  if (target == "/") {
    outcome.state = rule.access == Access::kReadOnly ? Outcome::kEnforced : Outcome::kUnsupported;
    if (rule.access != Access::kReadOnly) outcome.reason = "the whole host view is read-only";
  } else if (rule.access != Access::kHide && always_hidden(host_of(target)) && source < 0) {
    outcome.state = Outcome::kUnsupported;
    outcome.reason = "it lies in a folder that no sandbox sees";
  } else if (source >= 0) {
    st = add_rule_below(rule, static_cast<size_t>(source), target, outcome);
  } else {
    st = add_rule_host(rule, target, outcome);
  }
  view_.outcomes.push_back(std::move(outcome));
  return st;
}

inline Status Gather::run() {
  const Profile& p = *request_.profile;
  add_hidden();
  nodes["/"] = Node{Node::kHost, 0, {}};
  if (p.root == "image") {
    if (auto st = add_image(); !st) return st;
  }
  if (auto st = add_places(); !st) return st;
  add_credentials();
  add_root_secrets();
  std::vector<Profile::Rule> rules = p.files;
  std::sort(rules.begin(), rules.end(),
            [](const auto& a, const auto& b) { return before(a.path, b.path); });
  for (const auto& rule : rules) {
    if (auto st = add_rule(rule); !st) return st;
  }
  // Last, so that nothing above takes their place.
  for (const auto& hide : hides_) mask_everywhere(hide);
  for (const auto& place : placed) mask_proc_in(place.target);
  add_own();
  add_resolver();
  nodes["/proc"] = Node{Node::kProc, 0, {}};
  add_kernel_settings();
  nodes["/dev"] = Node{Node::kDevices, 0, {}};
  nodes["/dev/shm"] = Node{Node::kShared, 0, {}};
  // A mask in a mask hides nothing more, and would tell what is there.
  for (auto it = nodes.begin(); it != nodes.end();) {
    const bool mask = it->second.kind == Node::kEmpty || it->second.kind == Node::kNothing;
    it = mask && below_mask(it->first) ? nodes.erase(it) : std::next(it);
  }
  return {};
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_VIEW_GATHER_HPP
