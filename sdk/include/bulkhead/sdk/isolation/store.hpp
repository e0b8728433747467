// bulkhead/sdk/isolation/store.hpp - sandboxes as durable state: a folder each in the provider's
// state folder, that any process of the same owner finds, lists and removes.
//
//   ID/profile    as create() got it        ID/facts    what create() settled
//   ID/ready      made whole                ID/ending   destroy() has begun
//   ID/paused     nothing runs in it until it is resumed
//   ID/run/EXEC   a command that runs: who runs it, and its helper, as a link's target: that is made
//                 whole and at once, and costs the disk nothing
//   ID/home, ID/tmp   where the host named none
#ifndef BULKHEAD_SDK_ISOLATION_STORE_HPP
#define BULKHEAD_SDK_ISOLATION_STORE_HPP

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../call.hpp"
#include "launch_tree.hpp"
#include "paths.hpp"
#include "tree_remove.hpp"

namespace bulkhead::sdk::isolation {

// A process that may be gone: its number alone may mean another one by now.
struct ProcessName {
  int pid = 0;
  uint64_t started = 0;

  static ProcessName of(int pid) { return {pid, process_facts(pid).started}; }
  // A descriptor on it while it is alive, none when it is gone.
  Fd open() const {
    Fd fd(pid > 0 ? pidfd_open(pid) : -1);
    const ProcessFacts facts = process_facts(pid);
    if (facts.started != started || facts.state == 'Z' || facts.state == 0) fd.reset();
    return fd;
  }
};

class Store {
 public:
  // How the names of file workers begin, which no command's does.
  static constexpr const char* kFileWorker = "files_";

  explicit Store(std::string folder)
      : folder_(std::move(folder)), self_(ProcessName::of(::getpid())) {}
  const std::string& folder() const { return folder_; }
  std::string path(std::string_view id, const char* name = "") const {
    return join(join(folder_, id), name);
  }

  Status begin(std::string_view id, std::string_view profile) const {
    const std::string at = path(id);
    if (::mkdir(at.c_str(), 0700) != 0) {
      if (errno == EEXIST) {
        return failure(BH_ALREADY_EXISTS, "a sandbox " + std::string(id) + " is there already",
                       "exists");
      }
      return cannot("make", at);
    }
    if (::mkdir(path(id, "run").c_str(), 0700) != 0) return cannot("make", path(id, "run"));
    return write(id, "profile", profile);
  }
  Status make_folder(std::string_view id, const char* name) const {
    if (::mkdir(path(id, name).c_str(), 0700) == 0) return {};
    return cannot("make", path(id, name));
  }
  Status finish(std::string_view id, std::string_view facts) const {
    if (auto st = write(id, "facts", facts); !st) return st;
    return write(id, "ready", "");
  }
  // For find(): what create() wrote.
  Result<std::pair<std::string, std::string>> load(std::string_view id) const {
    std::pair<std::string, std::string> texts;
    if (!there(path(id))) {
      return failure(BH_NOT_FOUND, "no sandbox " + std::string(id), "sandbox_not_found");
    }
    if (!usable(id) || !read_file(path(id, "profile"), texts.first) ||
        !read_file(path(id, "facts"), texts.second)) {
      return failure(BH_FAILED_PRECONDITION,
                     "the sandbox " + std::string(id) + " is half made, or is being removed",
                     "half_made", {}, "destroy it");
    }
    return texts;
  }
  // A file that says something of the sandbox to every process; see usable().
  Status mark(std::string_view id, const char* name, bool set) const {
    if (set) return write(id, name, "");
    if (::unlink(path(id, name).c_str()) == 0 || errno == ENOENT) return {};
    return cannot("remove", path(id, name));
  }
  bool marked(std::string_view id, const char* name) const { return there(path(id, name)); }

  bool usable(std::string_view id) const {
    return there(path(id, "ready")) && !there(path(id, "ending"));
  }

  std::vector<std::pair<std::string, std::string>> list() const {
    std::vector<std::pair<std::string, std::string>> out;
    if (DIR* d = ::opendir(folder_.c_str())) {
      while (const dirent* entry = ::readdir(d)) {
        const std::string id = entry->d_name;
        if (id[0] == '.' || !there(path(id, "run"))) continue;
        out.emplace_back(id, there(path(id, "ending"))  ? "stopping"
                             : there(path(id, "ready")) ? "running"
                                                        : "pending");
      }
      ::closedir(d);
    }
    return out;
  }

  // ---- commands

  // Before the command is started: from here on destroy() waits for it.
  Status enter(std::string_view id, std::string_view exec) const {
    const std::string at = run_path(id, exec);
    if (::symlink(run_line(0).c_str(), at.c_str()) != 0) {
      if (errno != EEXIST) return cannot_in(id, at);
      return failure(BH_ALREADY_EXISTS, "a command of this name runs already", "exists", "id");
    }
    if (usable(id)) return {};
    leave(id, exec);
    return gone(id);
  }
  // Once its helper runs. NOT_FOUND: destroy() has begun in between; end it.
  Status note_helper(std::string_view id, std::string_view exec, int helper) const {
    const std::string next = path(id, "run") + "/." + file_name(exec);
    // One that is there was left by a host that was killed just then.
    (void)::unlink(next.c_str());
    if (::symlink(run_line(helper).c_str(), next.c_str()) != 0 ||
        ::rename(next.c_str(), run_path(id, exec).c_str()) != 0) {
      return cannot_in(id, next);
    }
    return usable(id) ? Status() : gone(id);
  }
  void leave(std::string_view id, std::string_view exec) const {
    ::unlink(run_path(id, exec).c_str());
  }
  // Helpers of the commands that run, in whatever process; all of them when `exec` is empty. A file
  // worker is no command.
  std::vector<Fd> helpers(std::string_view id, std::string_view exec = {}) const {
    std::vector<Fd> out;
    for (const auto& name : run_names(id)) {
      if (!exec.empty() && name != file_name(exec)) continue;
      if (exec.empty() && name.rfind(kFileWorker, 0) == 0) continue;
      ProcessName host, helper;
      if (!read_run(id, name, host, helper)) continue;
      if (Fd fd = helper.open()) out.push_back(std::move(fd));
    }
    return out;
  }

  // ---- the end

  // Marks it, ends its commands and waits until all have left; then removes the folder. Several may
  // do so at once.
  Status destroy(Call& call, std::string_view id) const {
    if (!there(path(id))) return {};
    const Fd mark(::open(path(id, "ending").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    // While the folder goes file by file, the mark may go first: a command must not take that for a
    // sandbox that is as it was.
    (void)::unlink(path(id, "ready").c_str());
    const Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    (void)::inotify_add_watch(watch.get(), path(id, "run").c_str(), IN_DELETE | IN_MOVED_TO);
    for (;;) {
      std::vector<Fd> alive = end_commands(id);
      if (run_names(id).empty()) break;
      std::vector<pollfd> sets{{watch.get(), POLLIN, 0},
                               {static_cast<int>(call.cancel_fd()), POLLIN, 0}};
      for (const Fd& fd : alive) sets.push_back({fd.get(), POLLIN, 0});
      const int n = ::poll(sets.data(), sets.size(), 5000);
      char events[4096];
      while (::read(watch.get(), events, sizeof events) > 0) {
      }
      if (sets[1].revents != 0) {
        if (auto st = call.stopped(); !st.ok()) return st;
      }
      if (n == 0) {
        return failure(BH_UNAVAILABLE, "commands of " + std::string(id) + " have not ended yet",
                       "busy", {}, "try again");
      }
    }
    const Fd top(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int attempt = 0;; ++attempt) {
      if (top && remove_tree(top.get(), std::string(id))) return {};
      const int error = errno;
      if (!there(path(id))) return {};
      // Who destroys it too has just marked it, or a command that is turned away has left a line.
      if (top && attempt < 50) {
        const timespec moment{0, 1000000};
        (void)::nanosleep(&moment, nullptr);
        continue;
      }
      errno = error;
      return cannot("remove", path(id));
    }
  }

  static std::string file_name(std::string_view exec) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (const char c : exec) {
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') {
        out += c;
      } else {
        out += '_';
        out += kHex[static_cast<unsigned char>(c) >> 4];
        out += kHex[c & 15];
      }
    }
    return out.empty() ? "_" : out;
  }

 private:
  static bool there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
  static Status cannot(const std::string& what, const std::string& path) {
    return failure(errno == ENOSPC ? BH_RESOURCE_EXHAUSTED : BH_INTERNAL,
                   "cannot " + what + " " + path + ": " + std::strerror(errno), "state_dir");
  }
  // Of a run file: its folder may be going just now.
  Status cannot_in(std::string_view id, const std::string& path) const {
    const int error = errno;
    if (!usable(id)) return gone(id);
    errno = error;
    return cannot("write", path);
  }
  static Status gone(std::string_view id) {
    return failure(BH_NOT_FOUND, "the sandbox " + std::string(id) + " is gone, or is ending",
                   "sandbox_not_found");
  }
  std::string run_path(std::string_view id, std::string_view exec) const {
    return join(path(id, "run"), file_name(exec));
  }
  std::string run_line(int helper) const {
    const ProcessName host = self_.pid == ::getpid() ? self_ : ProcessName::of(::getpid());
    const ProcessName other = helper > 0 ? ProcessName::of(helper) : ProcessName();
    return std::to_string(host.pid) + " " + std::to_string(host.started) + " " +
           std::to_string(other.pid) + " " + std::to_string(other.started);
  }
  // Whole or not at all.
  Status write(std::string_view id, const char* name, std::string_view text) const {
    const std::string next = path(id, name) + ".new";
    const Fd fd(::open(next.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), text) || ::rename(next.c_str(), path(id, name).c_str()) != 0) {
      return cannot("write", path(id, name));
    }
    return {};
  }
  std::vector<std::string> run_names(std::string_view id) const {
    std::vector<std::string> out;
    if (DIR* d = ::opendir(path(id, "run").c_str())) {
      while (const dirent* entry = ::readdir(d)) {
        if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
      }
      ::closedir(d);
    }
    return out;
  }
  bool read_run(std::string_view id, const std::string& name, ProcessName& host,
                ProcessName& helper) const {
    char text[256];
    unsigned long long host_started = 0, helper_started = 0;
    const ssize_t n = ::readlink(join(path(id, "run"), name).c_str(), text, sizeof text - 1);
    text[std::max<ssize_t>(n, 0)] = '\0';
    if (std::sscanf(text, "%d %llu %d %llu", &host.pid, &host_started, &helper.pid,
                    &helper_started) != 4) {
      return false;
    }
    host.started = host_started;
    helper.started = helper_started;
    return true;
  }
  // Asks every helper to end; takes away what dead hosts left. Returns those alive.
  std::vector<Fd> end_commands(std::string_view id) const {
    std::vector<Fd> alive;
    for (const auto& name : run_names(id)) {
      ProcessName host, helper;
      if (!read_run(id, name, host, helper)) continue;
      Fd fd = helper.open();
      if (fd) {
        (void)pidfd_send_signal(fd.get(), SIGTERM);
        alive.push_back(std::move(fd));
      } else if (!host.open()) {
        ::unlink(join(path(id, "run"), name).c_str());
      }
    }
    return alive;
  }

  std::string folder_;
  ProcessName self_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_STORE_HPP
