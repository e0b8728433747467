// bulkhead/sdk/isolation/cgroup.hpp - one group per sandbox that carries its limits, and below it
// one per running command, which tells what that command used and whether it ran out of memory.
#ifndef BULKHEAD_SDK_ISOLATION_CGROUP_HPP
#define BULKHEAD_SDK_ISOLATION_CGROUP_HPP

#include <dirent.h>
#include <signal.h>
#include <time.h>

#include <set>
#include <string>
#include <vector>

#include "../result.hpp"
#include "cgroup_find.hpp"
#include "profile.hpp"

namespace bulkhead::sdk::isolation {

struct CgroupUsage {
  int64_t cpu_ns = -1, peak_bytes = -1;
  int64_t memory_kills = 0;
};

// A group of the same name in every hierarchy that is in use. Does not own it: what must outlive
// this object does, and remove() ends it. [any]
class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(const CgroupPlace& place, const std::string& name) : version_(place.version) {
    for (const auto& [controller, base] : place.base) folders_[controller] = join(base, name);
  }
  bool used() const { return version_ != 0; }
  const std::map<std::string, std::string>& folders() const { return folders_; }

  Cgroup child(const std::string& name) const {
    Cgroup c;
    c.version_ = version_;
    for (const auto& [controller, folder] : folders_) c.folders_[controller] = join(folder, name);
    return c;
  }

  // Makes what is missing. `inner`: it will have groups below it, which are to have controllers
  // too.
  Status make(bool inner) const {
    std::set<std::string> done;
    for (const auto& [controller, folder] : folders_) {
      (void)controller;
      if (!done.insert(folder).second) continue;
      if (version_ == 2) hand_out(parent_of(folder));
      if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return cannot("make", folder);
      if (version_ == 2 && inner) hand_out(folder);
    }
    return {};
  }

  // A limit whose controller is not in use is left out: the report has said so.
  Status limit(const Limits& limits) const {
    if (limits.memory_bytes && has("memory")) {
      const std::string bytes = std::to_string(*limits.memory_bytes);
      if (version_ == 1) {
        // The sum with swap is never below the memory, so the order depends on what is there: once
        // before, for a lower one, and once after, for a higher one.
        (void)put("memory", "memory.memsw.limit_in_bytes", bytes);
        if (auto st = write("memory", "memory.limit_in_bytes", bytes); !st) return st;
        (void)put("memory", "memory.memsw.limit_in_bytes", bytes);
      } else {
        if (auto st = write("memory", "memory.max", bytes); !st) return st;
        (void)put("memory", "memory.swap.max", "0");
      }
    }
    if (limits.pids && has("pids")) {
      if (auto st = write("pids", "pids.max", std::to_string(*limits.pids)); !st) return st;
    }
    if (limits.cpu && has("cpu")) {
      constexpr int64_t kPeriod = 100000;
      const auto quota = std::max<int64_t>(1000, static_cast<int64_t>(*limits.cpu * kPeriod));
      const std::string text = std::to_string(quota);
      if (version_ == 1) {
        if (auto st = write("cpu", "cpu.cfs_quota_us", text); !st) return st;
      } else if (auto st = write("cpu", "cpu.max", text + " " + std::to_string(kPeriod)); !st) {
        return st;
      }
    }
    return {};
  }
  // Of a command's group: when one of its processes is killed for memory, all are (v2).
  void whole_kill() const {
    if (version_ == 2) (void)put("memory", "memory.oom.group", "1");
  }

  // Writable files; a process of one thread that writes "0" to each has joined. In v1 that is the file
  // that moves the writing thread alone: for a whole process the kernel first waits until all
  // processors have passed a quiet moment, some 15 ms.
  Result<std::vector<Fd>> doors() const {
    std::vector<Fd> out;
    for (const auto& folder : unique_folders()) {
      const std::string door = folder + (version_ == 1 ? "/tasks" : "/cgroup.procs");
      Fd fd(::open(door.c_str(), O_WRONLY | O_CLOEXEC));
      if (!fd) return cannot("open", door).failure();
      out.push_back(std::move(fd));
    }
    return out;
  }

  CgroupUsage usage() const {
    CgroupUsage u;
    if (version_ == 1) {
      u.cpu_ns = number("cpuacct", "cpuacct.usage", "");
      u.peak_bytes = number("memory", "memory.max_usage_in_bytes", "");
      if (u.peak_bytes >= 0) u.peak_bytes = std::max<int64_t>(0, u.peak_bytes - before_.peak_bytes);
      u.memory_kills = std::max<int64_t>(
          0, number("memory", "memory.oom_control", "oom_kill") - before_.memory_kills);
    } else if (version_ == 2) {
      const std::string any = folders_.begin()->first;
      const int64_t us = number(any, "cpu.stat", "usage_usec");
      u.cpu_ns = us < 0 ? -1 : us * 1000;
      u.peak_bytes = number("memory", "memory.peak", "");
      u.memory_kills = std::max<int64_t>(0, number("memory", "memory.events", "oom_kill"));
    }
    return u;
  }
  int64_t processes() const { return number("pids", "pids.current", ""); }

  // Whether freeze() can do anything here.
  bool can_freeze() const { return version_ == 2 || has("freezer"); }
  // The groups below it, one per command, and what comes to be in them; waits until all has stopped.
  // False: errno tells, ETIMEDOUT where something does not stop.
  bool freeze(bool frozen) const {
    const auto it = folders_.find(version_ == 1 ? "freezer" : folders_.begin()->first);
    if (it == folders_.end()) return errno = ENOTSUP, false;
    bool all = true;
    int error = 0;
    each_folder(it->second, [&](const std::string& folder) {
      if (set_frozen(folder, frozen)) return;
      all = false;
      error = errno;
    });
    errno = error;
    return all;
  }

  // SIGKILL to everything in it and below; one round.
  void kill() const {
    for (const auto& folder : unique_folders()) kill_in(folder);
  }

  // Of a command's group whose command is over, and that is to serve another; false: it cannot. In v2
  // nothing tells how much memory was the most since some moment.
  bool can_serve_again() const {
    if (version_ != 1) return false;
    if (has("pids")) return processes() == 0;
    std::string inside;
    return read_file(folders_.begin()->second + "/cgroup.procs", inside, 64) && inside.empty();
  }
  // usage() counts from here on: what the last one left in it, as pages of files, is not the next
  // one's. False: the groups are gone.
  bool renew() {
    if (has("cpuacct") && !put("cpuacct", "cpuacct.usage", "0")) return false;
    if (!has("memory")) return true;
    if (!put("memory", "memory.max_usage_in_bytes", "0")) return false;
    before_.peak_bytes = std::max<int64_t>(0, number("memory", "memory.usage_in_bytes", ""));
    before_.memory_kills = std::max<int64_t>(0, number("memory", "memory.oom_control", "oom_kill"));
    return true;
  }

  // Only where nothing is in it and nothing below it: an idle sandbox keeps no group.
  void remove_if_empty() const {
    for (const auto& folder : unique_folders()) (void)::rmdir(folder.c_str());
  }

  // Groups of commands that are over.
  void remove_empty_below() const {
    for (const auto& folder : unique_folders()) {
      each_folder(folder, [](const std::string& inner) { (void)::rmdir(inner.c_str()); });
    }
  }

  // With what is below it. False while something is still in there.
  bool remove() const {
    bool all = true;
    for (const auto& folder : unique_folders()) all = remove_folder(folder) && all;
    return all;
  }

 private:
  bool has(const std::string& controller) const { return folders_.count(controller) != 0; }
  std::set<std::string> unique_folders() const {
    std::set<std::string> out;
    for (const auto& [controller, folder] : folders_) (void)controller, out.insert(folder);
    return out;
  }
  static Status cannot(const std::string& what, const std::string& path) {
    return failure(BH_FAILED_PRECONDITION,
                   "cannot " + what + " " + path + ": " + std::strerror(errno), "cgroup");
  }
  bool put(const std::string& controller, const char* file, const std::string& text) const {
    const auto it = folders_.find(controller);
    if (it == folders_.end()) return false;
    const Fd fd(::open((it->second + "/" + file).c_str(), O_WRONLY | O_CLOEXEC));
    return fd && write_all(fd.get(), text);
  }
  Status write(const std::string& controller, const char* file, const std::string& text) const {
    if (put(controller, file, text)) return {};
    return cannot("write", folders_.at(controller) + "/" + file);
  }
  void hand_out(const std::string& folder) const {
    for (const auto& [controller, at] : folders_) {
      (void)at;
      const Fd fd(::open((folder + "/cgroup.subtree_control").c_str(), O_WRONLY | O_CLOEXEC));
      if (fd) (void)write_all(fd.get(), "+" + controller);
    }
  }
  // The number in a file, or the one after `key` in it; -1: not there.
  int64_t number(const std::string& controller, const char* file, const std::string& key) const {
    const auto it = folders_.find(controller);
    std::string text;
    if (it == folders_.end() || !read_file(it->second + "/" + file, text, 65536)) return -1;
    std::istringstream in(text);
    int64_t n = -1;
    if (key.empty()) return in >> n ? n : -1;
    for (std::string word; in >> word;) {
      if (word == key) return in >> n ? n : -1;
    }
    return -1;
  }
  template <class Each>
  static void each_folder(const std::string& folder, Each each) {
    if (DIR* d = ::opendir(folder.c_str())) {
      while (const dirent* entry = ::readdir(d)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') each(folder + "/" + entry->d_name);
      }
      ::closedir(d);
    }
  }
  bool set_frozen(const std::string& folder, bool frozen) const {
    const std::string file = folder + (version_ == 1 ? "/freezer.state" : "/cgroup.freeze");
    const std::string word = version_ == 1 ? (frozen ? "FROZEN" : "THAWED") : (frozen ? "1" : "0");
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return errno == ENOENT;  // its command has just ended
    if (!write_all(fd.get(), word)) return errno == ENODEV;
    for (int attempt = 0; attempt < 2000; ++attempt) {
      std::string text;
      if (version_ == 1) {
        if (!read_file(file, text, 64)) return true;
        if (text.rfind(word, 0) == 0) return true;
      } else {
        if (!read_file(folder + "/cgroup.events", text, 4096)) return true;
        if (text.find(frozen ? "frozen 1" : "frozen 0") != std::string::npos) return true;
      }
      const timespec moment{0, 1000000};
      (void)::nanosleep(&moment, nullptr);
    }
    return errno = ETIMEDOUT, false;
  }
  static void kill_in(const std::string& folder) {
    each_folder(folder, [](const std::string& inner) { kill_in(inner); });
    const Fd at_once(::open((folder + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    if (at_once && write_all(at_once.get(), "1")) return;
    std::string text;
    if (!read_file(folder + "/cgroup.procs", text)) return;
    std::istringstream in(text);
    for (int pid; in >> pid;) {
      const Fd pidfd(pidfd_open(pid));
      std::string own;
      // The number may have been given to another since it was read; one that is not in a group of
      // ours is not ours.
      const size_t cut = folder.rfind('/');
      if (pidfd && read_file("/proc/" + std::to_string(pid) + "/cgroup", own) &&
          own.find(folder.substr(cut)) != std::string::npos) {
        (void)pidfd_send_signal(pidfd.get(), SIGKILL);
      }
    }
  }
  static bool remove_folder(const std::string& folder) {
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
    each_folder(folder, [](const std::string& inner) { (void)remove_folder(inner); });
    return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
  }

  int version_ = 0;
  std::map<std::string, std::string> folders_;
  CgroupUsage before_{-1, 0, 0};  // v1: of those whom the group served before
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_CGROUP_HPP
