// What the broker holds of each sandbox: its namespaces, as descriptors. An idle one has no process.
#pragma once

#include <bulkhead/sdk/isolation/fd.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../wire.h"
#include "spawner.h"

namespace ns {

struct Held {
  // user, mnt, ipc, uts, cgroup, time; empty until it is built
  std::vector<isolation::Fd> spaces;
  isolation::Fd net;             // made with the first that enters, dropped when idle
  isolation::Fd filter, entry;
  bool own_network = true;
  bool shared_processes = false;
  isolation::Fd keeper_pid, keeper_mnt;  // namespaces that all commands share, where they do

  pid_t maker = -1;
  isolation::Fd told;            // what the maker says
  isolation::Fd back;            // where a new network or keeper comes from
  bool keeper_wanted = false;    // of those two, the keeper
  pid_t keeper_joiner = -1;
  isolation::Fd answer;          // who waits for kMake
  Answer refused;                // why it could not be built

  std::vector<std::vector<isolation::Fd>> waiting;  // kEnter, until it can be entered
  std::set<pid_t> inside;                           // joiners
  uint64_t idle_since = 0;                          // with a network and nobody inside
  bool ending = false;                              // kDrop has come
  isolation::Fd dropped;                            // who waits for it, if anybody does
  uint64_t kill_at = 0;                             // with that: what has not ended by then
};

// Single-threaded; blocks on nothing that a sandbox or a file system could hold up.
class Holder {
 public:
  Holder(Spawner& spawner, int host) : spawner_(spawner), host_(host) {}

  void take(const Request& request, std::vector<isolation::Fd> fds);
  // The same, when there are no descriptors for more: says so, and forgets what it can.
  void take_in_need(const Request& request, std::vector<isolation::Fd> fds);
  // A child has ended.
  void ended(pid_t pid);
  // Something to read on one of watched().
  void heard(int fd);
  std::vector<int> watched() const;
  // Milliseconds until something has to be dropped; -1: never.
  int timeout() const;
  void look_at_clock();

 private:
  void make(uint64_t sandbox, const Request& request, std::vector<isolation::Fd> fds);
  void built(uint64_t sandbox, Held& held);
  void enter(uint64_t sandbox, Held& held, std::vector<isolation::Fd> fds);
  void flush(uint64_t sandbox, Held& held);
  static void refuse_waiting(Held& held);
  void drop(uint64_t sandbox, std::vector<isolation::Fd> fds);
  void dial(Held& held, uint32_t port, const isolation::Fd& answer);
  // A joiner with what the host gave for it; false: errno tells.
  bool seat(uint64_t sandbox, Held& held, const std::vector<isolation::Fd>& fds, bool keep,
            pid_t& pid);
  void finish_drop(uint64_t sandbox);

  Spawner& spawner_;
  const int host_;
  std::map<uint64_t, Held> all_;
  std::map<pid_t, uint64_t> owners_;
};

}  // namespace ns
