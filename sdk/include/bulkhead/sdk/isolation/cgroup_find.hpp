// bulkhead/sdk/isolation/cgroup_find.hpp - where on this machine control groups can be made: the
// old hierarchies (v1), one per controller, or the unified one (v2). Looks only, makes nothing.
#ifndef BULKHEAD_SDK_ISOLATION_CGROUP_FIND_HPP
#define BULKHEAD_SDK_ISOLATION_CGROUP_FIND_HPP

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "fd.hpp"
#include "paths.hpp"

namespace bulkhead::sdk::isolation {

// Folders below which groups can be made, by controller: "memory", "pids", "cpu", "cpuacct" and, in
// v1, "freezer". In v2 they are all the same folder, and freezing takes no controller. A controller that is missing cannot be used.
struct CgroupPlace {
  int version = 0;  // 0: none can be made
  std::map<std::string, std::string> base;
  // v2: cgroup.procs of the group that we are in already; empty: none that is ours.
  std::string own;
  bool has(const std::string& controller) const { return base.count(controller) != 0; }
};

namespace detail {

struct CgroupMount {
  std::string root, point;
};

// " - TYPE SOURCE OPTIONS" of each line of mountinfo, v1 by controller, v2 under "".
inline std::map<std::string, CgroupMount> cgroup_mounts(const std::string& mountinfo) {
  std::map<std::string, CgroupMount> out;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head(line), tail(line.substr(dash + 3));
    std::string skip, type, source, options;
    CgroupMount mount;
    head >> skip >> skip >> skip >> mount.root >> mount.point;
    tail >> type >> source >> options;
    if (type == "cgroup2") out.emplace("", mount);
    if (type != "cgroup") continue;
    std::istringstream words(options);
    for (std::string word; std::getline(words, word, ',');) out.emplace(word, mount);
  }
  return out;
}

// Controller (or "" for v2) to the path of our own group, out of /proc/self/cgroup.
inline std::map<std::string, std::string> own_groups(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':'), two = line.find(':', one + 1);
    if (two == std::string::npos) continue;
    std::istringstream words(line.substr(one + 1, two - one - 1));
    const std::string path = line.substr(two + 1);
    if (two == one + 1) out[""] = path;
    for (std::string word; std::getline(words, word, ',');) out[word] = path;
  }
  return out;
}

inline std::string group_folder(const CgroupMount& mount, const std::string& path) {
  // In a container the mount shows a part of the tree, and may not show our own group at all.
  if (!is_within(path, mount.root)) return mount.point;
  return join(mount.point, rest_of(path, mount.root));
}

inline bool writable(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

inline bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string w; words >> w;) {
    if (w == word) return true;
  }
  return false;
}

// Upwards from our own group: a group holds processes or hands out controllers, never both, so
// the first folder above that hands them out is where a group with limits can be.
inline void find_unified(const CgroupMount& mount, const std::string& path, CgroupPlace& place) {
  for (std::string at = group_folder(mount, path); is_within(at, mount.point); at = parent_of(at)) {
    std::string handed, offered;
    if (writable(at) && read_file(at + "/cgroup.subtree_control", handed)) {
      // The root of the tree may do both.
      const bool root = ::access((at + "/cgroup.type").c_str(), F_OK) != 0;
      if (root && writable(at + "/cgroup.subtree_control")) {
        (void)read_file(at + "/cgroup.controllers", offered);
      }
      for (const char* name : {"memory", "pids", "cpu"}) {
        if (place.has(name)) continue;
        if (has_word(handed, name) || has_word(offered, name)) place.base[name] = at;
      }
      if (!place.base.empty()) {
        // One folder for all of them: what that one does not hand out is not used.
        const std::string folder = place.base.begin()->second;
        for (auto it = place.base.begin(); it != place.base.end();) {
          it = it->second == folder ? std::next(it) : place.base.erase(it);
        }
        place.version = 2;
        return;
      }
    }
    if (at == mount.point || at == "/") return;
  }
}

}  // namespace detail

// `texts`: /proc/self/mountinfo and /proc/self/cgroup, so that a test can bring its own.
inline CgroupPlace find_cgroups(const std::string& mountinfo, const std::string& own) {
  CgroupPlace place;
  const auto mounts = detail::cgroup_mounts(mountinfo);
  const auto groups = detail::own_groups(own);
  for (const char* name : {"memory", "pids", "cpu", "cpuacct", "freezer"}) {
    const auto mount = mounts.find(name);
    const auto group = groups.find(name);
    if (mount == mounts.end() || group == groups.end()) continue;
    const std::string folder = detail::group_folder(mount->second, group->second);
    if (!detail::writable(folder)) continue;
    place.base[name] = folder;
    place.version = 1;
  }
  if (place.version == 0) {
    const auto mount = mounts.find("");
    const auto group = groups.find("");
    if (mount != mounts.end() && group != groups.end()) {
      detail::find_unified(mount->second, group->second, place);
      place.own = detail::group_folder(mount->second, group->second) + "/cgroup.procs";
    }
  }
  return place;
}

inline CgroupPlace find_cgroups() {
  std::string mountinfo, own;
  if (!read_file("/proc/self/mountinfo", mountinfo) || !read_file("/proc/self/cgroup", own)) {
    return {};
  }
  return find_cgroups(mountinfo, own);
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_CGROUP_FIND_HPP
