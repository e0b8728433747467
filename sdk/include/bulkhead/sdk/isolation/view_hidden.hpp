// bulkhead/sdk/isolation/view_hidden.hpp - what a sandbox must not see although the host shows it:
// the host's own list, agent sockets, keys and, where its processes have the kernel's id 0, what only
// root may read.
#ifndef BULKHEAD_SDK_ISOLATION_VIEW_HIDDEN_HPP
#define BULKHEAD_SDK_ISOLATION_VIEW_HIDDEN_HPP

#include <dirent.h>

#include <algorithm>
#include <string>
#include <vector>

#include "view_gather.hpp"

namespace bulkhead::sdk::isolation {

// Files and folders below HOME where programs keep keys; hidden unless a rule speaks of them.
inline const std::vector<std::string> kCredentials = {".ssh",
                                               ".gnupg",
                                               ".aws",
                                               ".azure",
                                               ".config/gcloud",
                                               ".kube",
                                               ".docker",
                                               ".netrc",
                                               ".git-credentials",
                                               ".config/gh",
                                               ".config/hub",
                                               ".npmrc",
                                               ".pypirc",
                                               ".password-store",
                                               ".local/share/keyrings",
                                               ".mozilla",
                                               ".thunderbird",
                                               ".config/google-chrome",
                                               ".config/chromium",
                                               ".config/BraveSoftware",
                                               ".cargo/credentials",
                                               ".cargo/credentials.toml",
                                               ".config/rclone",
                                               ".vault-token",
                                               ".terraform.d",
                                               ".bash_history",
                                               ".zsh_history",
                                               ".python_history"};

namespace detail {

inline const std::string* find(const Variables& all, const std::string& name) {
  const auto it = all.find(name);
  return it != all.end() ? &it->second : nullptr;
}

// Sockets of agents and daemons that the host's environment tells of.
inline std::vector<std::string> sockets(const Variables& all) {
  std::vector<std::string> out;
  auto path = [&](std::string text) {
    if (!text.empty() && text[0] == '/') out.push_back(std::move(text));
  };
  if (const auto* s = find(all, "SSH_AUTH_SOCK")) path(*s);
  if (const auto* s = find(all, "XDG_RUNTIME_DIR")) path(*s);
  if (const auto* s = find(all, "GPG_AGENT_INFO")) path(s->substr(0, s->find(':')));
  for (const char* name : {"DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"}) {
    const auto* s = find(all, name);
    if (s == nullptr) continue;
    for (const std::string start : {"unix://", "unix:path="}) {
      if (s->rfind(start, 0) == 0) {
        path(s->substr(start.size(), s->find(',', start.size()) - start.size()));
      }
    }
  }
  return out;
}

}  // namespace detail

inline void Gather::add_hidden() {
  std::vector<std::string> wanted = request_.profile->hide;
  for (const char* always : {"/run", "/var/run"}) wanted.emplace_back(always);
  for (auto& socket : detail::sockets(*request_.environment)) wanted.push_back(std::move(socket));
  for (const auto& one : wanted) {
    const std::string path = canonical(one);
    if (path.empty() || path == "/") continue;
    for (auto& alias : mounts_.aliases(path)) hides_.push_back(std::move(alias));
    hides_.push_back(path);
  }
  std::sort(hides_.begin(), hides_.end());
  hides_.erase(std::unique(hides_.begin(), hides_.end()), hides_.end());
  view_.hidden = hides_;
}

inline void Gather::add_credentials() {
  const auto* home = detail::find(*request_.environment, "HOME");
  if (home == nullptr || home->empty() || (*home)[0] != '/') return;
  for (const auto& name : kCredentials) {
    const std::string path = join(*home, name);
    const std::string found = canonical(path);
    if (found.empty()) continue;
    // A rule about it, or about something in it, is an answer to the question.
    const auto& rules = request_.profile->files;
    const bool spoken_of = std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
      return is_within(rule.path, path) || is_within(rule.path, found);
    });
    const bool mounted = std::any_of(view_.sources.begin(), view_.sources.end(),
                                     [&](const auto& s) { return is_within(s.path, found); });
    if (!spoken_of && !mounted) mask_everywhere(found);
  }
}

// Without capabilities, id 0 is still the owner of what only root may read. In /etc keys lie deep.
inline void Gather::add_root_secrets() {
  if (request_.who->ids != Ids::kRoot) return;
  for (const char* folder : {"/", "/var", "/var/lib", "/var/log", "/var/cache"}) {
    add_secrets_in(folder, 0);
  }
  add_secrets_in("/etc", 6);
}

inline void Gather::add_secrets_in(const std::string& folder, int deep) {
  DIR* d = ::opendir(folder.c_str());
  if (d == nullptr) return;
  while (const dirent* entry = ::readdir(d)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
    const std::string path = join(folder, name);
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0) continue;
    const bool folder_too = S_ISDIR(st.st_mode);
    if (!folder_too && !S_ISREG(st.st_mode)) continue;
    const unsigned others = folder_too ? 05 : 04;
    const bool secret = st.st_uid == 0 && (st.st_mode & others) != others;
    if (secret && nodes.count(path) == 0 && host_of(path) == path) mask_at(path, path);
    if (!secret && folder_too && deep > 0) add_secrets_in(path, deep - 1);
  }
  ::closedir(d);
}

// The same in /proc, where id 0 owns what sets the machine. bubblewrap covers what it finds
// writable; it looks at the folder's own mode, which says no, and not at the files in it, which say
// yes.
inline void Gather::add_kernel_settings() {
  if (request_.who->ids != Ids::kRoot) return;
  for (const char* path : {"/proc/sys", "/proc/bus", "/proc/irq", "/proc/fs"}) {
    if (::access(path, F_OK) == 0) nodes[path] = Node{Node::kHost, 0, {}};
  }
  for (const char* path : {"/proc/sysrq-trigger", "/proc/kcore",         "/proc/kmsg",
                           "/proc/keys",          "/proc/mtrr",          "/proc/acpi",
                           "/proc/scsi",          "/proc/asound",        "/proc/timer_list",
                           "/proc/latency_stats", "/proc/sched_debug",   "/proc/slabinfo",
                           "/proc/kpageflags",    "/proc/kpagecount",    "/proc/kpagecgroup",
                           "/proc/vmallocinfo",   "/sys/firmware",       "/sys/kernel/debug",
                           "/sys/kernel/tracing", "/sys/kernel/security"}) {
    mask_at(path, path);
  }
}

// What the nearest word about `target` in that source says.
inline bool Gather::shown_writable(const std::string& target, size_t source) const {
  for (std::string at = target; is_within(at, placed[source].target);
       at = parent_of(at)) {
    const auto it = nodes.find(at);
    if (it == nodes.end()) continue;
    if (it->second.kind == Node::kSource) return view_.sources[it->second.source].read_only == 0;
    return it->second.kind == Node::kWritable;
  }
  return false;
}

// A workspace may hold the very program that runs us, as a build tree does. Its folder is read-only
// then, whatever a rule says; where the workspace is that folder, the files alone are.
inline void Gather::add_own() {
  if (request_.own == nullptr) return;
  for (const std::string& file : *request_.own) {
    std::vector<std::string> paths = mounts_.aliases(file);
    paths.push_back(file);
    for (const std::string& path : paths) {
      const std::string folder = parent_of(path);
      for (size_t i = 0; i < placed.size(); ++i) {
        const std::string& source = view_.sources[i].path;
        if (!is_within(path, source)) continue;
        const bool whole = folder != source && is_within(folder, source);
        const std::string& kept = whole ? folder : path;
        if (kept == source) {
          view_.sources[i].read_only = 1;
          continue;
        }
        const std::string target = join(placed[i].target, rest_of(kept, source));
        if (host_of(target) != kept || below_mask(target)) continue;
        for (auto& [at, node] : nodes) {
          if (is_within(at, target) && node.kind == Node::kWritable) node.kind = Node::kReadOnly;
        }
        if (!shown_writable(target, i)) continue;
        nodes[target] = Node{Node::kReadOnly, 0, {}};
        view_.own_by_file = view_.own_by_file || !whole;
      }
    }
  }
}

// Names are looked up through a file that most often lies in /run.
inline void Gather::add_resolver() {
  if (request_.profile->network != Network::kUnrestricted || request_.profile->root != "host") return;
  const std::string path = canonical("/etc/resolv.conf");
  if (!path.empty() && is_within(path, canonical("/run"))) {
    nodes[path] = Node{Node::kHost, 0, {}};
  }
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_VIEW_HIDDEN_HPP
