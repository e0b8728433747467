// Stands outside of the wall and answers what the filter asks about: changes to a file that no
// opening for writing goes before (mode, owner, times), watching a folder, connecting to a local
// socket, and on older kernels signals. Landlock covers none of it. What is asked is never let
// through where it depends on memory, since a path could be another one by then: the keeper opens
// what the path leads to, looks where that lies, and does it itself, on the descriptor that it
// looked at, with the rights of the same user.
#pragma once

#include <linux/seccomp.h>

#include <bulkhead/sdk/isolation/launch_watch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "wall.h"

namespace launch {

namespace isolation = bulkhead::sdk::isolation;

class Keeper : public isolation::Aside {
 public:
  // `mail`: where the command's process sends the listener once it has its filter. `init`: whose
  // descendants are the sandbox's processes.
  Keeper(landlocked::Wall wall, isolation::Fd mail, int init)
      : wall_(std::move(wall)), mail_(std::move(mail)), init_(init) {}

  int fd() const override { return listener_ ? listener_.get() : mail_.get(); }
  void serve() override;

 private:
  struct Asked {
    uint64_t id = 0;
    uint32_t pid = 0;  // of the thread
    int call = 0;
    uint64_t args[6] = {};
  };

  void answer();
  // What the call gives: 0 or more, or a negative errno; kLetThrough.
  long act(const Asked& asked);
  long set_mode(int target, uint64_t mode);
  long set_owner(int target, uint64_t owner, uint64_t group);
  long set_times(const Asked& asked, int target, uint64_t address, bool seconds);
  long watch_folder(const Asked& asked);
  long connect(const Asked& asked);

  // keeper_signals.cc
  long signal(const Asked& asked);
  long signal_process(int pid, int number);
  long signal_thread(int process, int thread, int number);
  long signal_many(const Asked& asked, int group, int number);
  long signal_descriptor(const Asked& asked, int fd, int number);
  bool is_ours(int pid) const;

  // Opened without rights; errno tells why not.
  isolation::Fd target_of(const Asked& asked, int folder, uint64_t path, bool follow,
                          bool empty_is_folder);
  isolation::Fd resolve(const Asked& asked, int folder, const std::string& path, bool follow);
  isolation::Fd opened_by(const Asked& asked, int fd);
  isolation::Fd copy_of(const Asked& asked, int fd);
  bool read_memory(const Asked& asked, uint64_t address, void* to, size_t size);
  bool read_text(const Asked& asked, uint64_t address, std::string& out);
  bool still_asked(uint64_t id) const;
  bool granted(int target, uint64_t right) const;

  const landlocked::Wall wall_;
  isolation::Fd mail_, listener_;
  const int init_;
};

// The kernel shall do it: for what is all in registers, about the asking process itself.
constexpr long kLetThrough = INT64_MAX;

// The process that a thread belongs to; 0: it is gone.
int process_of(uint32_t thread);

}  // namespace launch
