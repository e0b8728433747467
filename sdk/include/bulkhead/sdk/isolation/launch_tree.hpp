// bulkhead/sdk/isolation/launch_tree.hpp - all processes that descend from the calling one, for a
// helper that is a subreaper rather than the first process of a pid namespace.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_TREE_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_TREE_HPP

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

// Parent and start time out of /proc/PID/stat; 0 where it is gone. The name in it may hold
// anything, so fields are counted from its last bracket.
struct ProcessFacts {
  int parent = 0;
  uint64_t started = 0;
  char state = 0;
};
inline ProcessFacts process_facts(int pid) {
  ProcessFacts facts;
  std::string text;
  if (!read_file("/proc/" + std::to_string(pid) + "/stat", text, 4096)) return facts;
  const size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return facts;
  int parent = 0;
  unsigned long long started = 0;
  char state = 0;
  if (std::sscanf(text.c_str() + bracket + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                  &state, &parent, &started) == 3) {
    facts.parent = parent;
    facts.started = started;
    facts.state = state;
  }
  return facts;
}

// Descendants of `root`, without it, zombies left out.
inline std::vector<int> descendants(int root) {
  std::multimap<int, int> children;
  if (DIR* proc = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(proc)) {
      const int pid = std::atoi(entry->d_name);
      if (pid <= 0) continue;
      const ProcessFacts facts = process_facts(pid);
      if (facts.parent > 0 && facts.state != 'Z') children.emplace(facts.parent, pid);
    }
    ::closedir(proc);
  }
  std::vector<int> found, todo{root};
  while (!todo.empty()) {
    const int parent = todo.back();
    todo.pop_back();
    const auto range = children.equal_range(parent);
    for (auto it = range.first; it != range.second; ++it) {
      found.push_back(it->second);
      todo.push_back(it->second);
    }
  }
  return found;
}

// Sends through a pidfd, after looking that the number still means a descendant.
inline void signal_descendant(int pid, int number) {
  const ProcessFacts before = process_facts(pid);
  const Fd pidfd(pidfd_open(pid));
  if (!pidfd || before.parent == 0 || process_facts(pid).started != before.started) return;
  (void)pidfd_send_signal(pidfd.get(), number);
}

inline void signal_descendants(int number) {
  for (const int pid : descendants(::getpid())) signal_descendant(pid, number);
}

// Ends all descendants and reaps what comes back to us. They are stopped first, until nothing new
// turns up: a tree that forks quickly is otherwise never caught whole.
inline void kill_descendants() {
  std::set<int> stopped;
  if (::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
  for (int round = 0; round < 100; ++round) {
    bool fresh = false;
    for (const int pid : descendants(::getpid())) {
      if (!stopped.insert(pid).second) continue;
      fresh = true;
      signal_descendant(pid, SIGSTOP);
    }
    if (!fresh) break;
  }
  while (true) {
    signal_descendants(SIGKILL);
    int status;
    const pid_t pid = ::waitpid(-1, &status, 0);
    if (pid < 0 && errno != EINTR) return;  // ECHILD: none is left
  }
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_TREE_HPP
