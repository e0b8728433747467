#include "grants.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <set>

namespace landlocked {

using isolation::Access;
using isolation::is_within;
using isolation::join;
using isolation::Node;

namespace {

// What tells of the machine and of nobody. A rule about /proc itself would show every process's
// arguments, and one's own folder in there cannot be allowed before it is there.
constexpr const char* kMachine[] = {"/proc/cpuinfo",
                                    "/proc/filesystems",
                                    "/proc/loadavg",
                                    "/proc/meminfo",
                                    "/proc/stat",
                                    "/proc/uptime",
                                    "/proc/version",
                                    "/proc/sys/crypto/fips_enabled",
                                    "/proc/sys/fs/file-max",
                                    "/proc/sys/fs/inotify",
                                    "/proc/sys/fs/nr_open",
                                    "/proc/sys/fs/pipe-max-size",
                                    "/proc/sys/kernel/cap_last_cap",
                                    "/proc/sys/kernel/hostname",
                                    "/proc/sys/kernel/ngroups_max",
                                    "/proc/sys/kernel/osrelease",
                                    "/proc/sys/kernel/ostype",
                                    "/proc/sys/kernel/overflowgid",
                                    "/proc/sys/kernel/overflowuid",
                                    "/proc/sys/kernel/pid_max",
                                    "/proc/sys/kernel/random",
                                    "/proc/sys/kernel/threads-max",
                                    "/proc/sys/kernel/version",
                                    "/proc/sys/net/core/somaxconn",
                                    "/proc/sys/vm/max_map_count",
                                    "/proc/sys/vm/overcommit_memory",
                                    "/sys/devices/system/cpu",
                                    "/sys/devices/system/node",
                                    "/sys/kernel/mm/transparent_hugepage"};

constexpr const char* kDevices[] = {"/dev/full", "/dev/null", "/dev/random", "/dev/urandom",
                                    "/dev/zero"};

int rank(Access access) {
  return access == Access::kReadWrite ? 2 : access == Access::kReadOnly ? 1 : 0;
}

class Lowering {
 public:
  Lowering(const isolation::Gather& gathered, const isolation::View& view)
      : gathered_(gathered), view_(view) {}

  Grants run() {
    for (const auto& [target, node] : gathered_.nodes) settle(target, node);
    say("/sys", Access::kHide);
    // Wherever else they are mounted, in what was unpacked for a container perhaps.
    for (const std::string& point : isolation::MountTable::here().points_of(
             {"proc", "sysfs", "devtmpfs", "devpts", "mqueue", "cgroup", "cgroup2", "debugfs",
              "tracefs", "securityfs", "configfs", "bpf", "pstore", "efivarfs", "binfmt_misc"})) {
      say(point, Access::kHide);
    }
    emit("/", Access::kReadOnly);
    for (const char* path : kMachine) add(path, landlock::kReadFile | landlock::kReadFolder, true);
    constexpr uint64_t kBoth = landlock::kReadFile | landlock::kWriteFile;
    for (const char* path : kDevices) add(path, kBoth, true);
    // Whatever terminal the command has been given, if any.
    add("/dev/tty", kBoth | landlock::kDeviceIoctl, true);
    return std::move(out_);
  }

 private:
  void say(const std::string& path, Access access) {
    if (path != "/") said_[path] = access;
  }

  // The host's path of what the view has at `target`; empty: it is in a folder that stands
  // elsewhere in the view than on the host, and is nowhere here.
  std::string host_of(const std::string& target) const {
    const isolation::Placed* best = nullptr;
    for (const auto& placed : gathered_.placed) {
      if (is_within(target, placed.target) &&
          (best == nullptr || placed.target.size() > best->target.size())) {
        best = &placed;
      }
    }
    if (best == nullptr) return target;
    const size_t index = static_cast<size_t>(best - gathered_.placed.data());
    return view_.sources[index].path == best->target ? target : std::string();
  }

  void settle(const std::string& target, const Node& node) {
    switch (node.kind) {
      case Node::kSource: {
        const isolation::Source& source = view_.sources[node.source];
        // What stands there on the host is not what belongs there, and nothing can be laid over it.
        if (source.path != target) say(target, Access::kHide);
        say(source.path, source.read_only != 0 ? Access::kReadOnly : Access::kReadWrite);
        sources_.insert(source.path);
        break;
      }
      case Node::kProc:
      case Node::kDevices:
      case Node::kShared:
        say(target, Access::kHide);
        break;
      case Node::kEmpty:
      case Node::kNothing:
        if (const auto path = host_of(target); !path.empty()) say(path, Access::kHide);
        break;
      case Node::kReadOnly:
        if (const auto path = host_of(target); !path.empty()) say(path, Access::kReadOnly);
        break;
      case Node::kWritable:
        if (const auto path = host_of(target); !path.empty()) say(path, Access::kReadWrite);
        break;
      case Node::kHost:
        // Of the kernel's settings a view shows more than is told here.
        if (!is_within(target, "/proc")) say(target, Access::kReadOnly);
        break;
      case Node::kLink:
        break;
    }
  }

  void add(const std::string& path, uint64_t rights, bool optional) {
    if (out_.list.size() >= kMostGrants) {
      out_.cut = true;
      return;
    }
    const isolation::Fd fd = isolation::open_canonical(path);
    struct stat st {};
    if (!fd || ::fstat(fd.get(), &st) != 0) return;
    out_.list.push_back({st.st_dev, st.st_ino, rights, optional ? 1u : 0u, path});
  }
  void allow(const std::string& path, Access access) {
    if (access == Access::kHide) return;
    add(path, access == Access::kReadWrite ? landlock::kWriting : landlock::kReading,
        sources_.count(path) == 0);
  }

  Access lowest_in(const std::string& path, Access access) const {
    for (auto it = said_.upper_bound(path); it != said_.end() && is_within(it->first, path); ++it) {
      if (rank(it->second) < rank(access)) access = it->second;
    }
    return access;
  }
  bool speaks_within(const std::string& path) const {
    const auto it = said_.upper_bound(path);
    return it != said_.end() && is_within(it->first, path);
  }

  // `path` has that access, but for what was said about places in it.
  void emit(const std::string& path, Access access) {
    const Access lowest = lowest_in(path, access);
    allow(path, lowest);
    if (rank(lowest) < rank(access)) {
      if (lowest == Access::kHide) out_.unlisted.push_back(path);
      if (access == Access::kReadWrite) out_.closed.push_back(path);
      one_by_one(path, access, lowest);
      return;
    }
    for (auto it = said_.upper_bound(path); it != said_.end() && is_within(it->first, path);) {
      const std::string inner = it->first;
      emit(inner, it->second);
      while (it != said_.end() && is_within(it->first, inner)) ++it;
    }
  }

  void one_by_one(const std::string& path, Access access, Access lowest) {
    DIR* d = ::opendir(path.c_str());
    if (d == nullptr) return;
    while (const dirent* entry = ::readdir(d)) {
      const std::string name = entry->d_name;
      // A link needs no rule: what it leads to has its own.
      if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
      const std::string inner = join(path, name);
      const auto it = said_.find(inner);
      const Access own = it != said_.end() ? it->second : access;
      if (it != said_.end() || speaks_within(inner)) {
        emit(inner, own);
      } else if (rank(own) > rank(lowest) && entry->d_type != DT_CHR && entry->d_type != DT_BLK) {
        allow(inner, own);
      }
    }
    ::closedir(d);
  }

  const isolation::Gather& gathered_;
  const isolation::View& view_;
  std::map<std::string, Access, isolation::PathOrder> said_;
  std::set<std::string> sources_;
  Grants out_;
};

}  // namespace

Grants make_grants(const isolation::Gather& gathered, const isolation::View& view) {
  return Lowering(gathered, view).run();
}

}  // namespace landlocked
