// bulkhead/sdk/isolation/state_box.hpp - what can be done to a sandbox that runs, for backends with a
// helper program: the size of a command's terminal; pause and resume by the freezer.
#ifndef BULKHEAD_SDK_ISOLATION_STATE_BOX_HPP
#define BULKHEAD_SDK_ISOLATION_STATE_BOX_HPP

#include <cstring>
#include <string>

#include "../isolation_extensions.hpp"
#include "command.hpp"

namespace bulkhead::sdk::isolation {

// What a Sandbox derives from beside its base.
class SandboxTerminals : public Pty {
 public:
  Status resize(Call&, std::string_view exec_id, uint32_t rows, uint32_t columns) override {
    for (const auto& command : all_.running.find(id_, exec_id)) {
      if (command->resize(rows, columns)) return {};
      if (errno == 0) {
        return failure(BH_FAILED_PRECONDITION, "that command has no terminal", "no_terminal", "tty",
                       "start it with tty");
      }
      return failure(BH_INTERNAL, std::string("the terminal's size: ") + std::strerror(errno),
                     "terminal");
    }
    return failure(BH_NOT_FOUND, "no such command runs in this process", "exec_ended");
  }

 protected:
  SandboxTerminals(Sandboxes& all, std::string id) : all_(all), id_(std::move(id)) {}
  ~SandboxTerminals() = default;

 private:
  Sandboxes& all_;
  const std::string id_;
};

// The mark in the sandbox's folder comes first and goes last, so that no command starts in between,
// in whatever process; each command has a group of its own, which is frozen.
class SandboxPause : public Pause {
 public:
  Status pause(Call&) override {
    const Cgroup group = all_.group(id_);
    if (!group.can_freeze()) return cannot();
    if (auto st = all_.store.mark(id_, "paused", true); !st) return st;
    if (group.freeze(true)) return {};
    const int error = errno;
    (void)group.freeze(false);
    (void)all_.store.mark(id_, "paused", false);
    return failure(BH_UNAVAILABLE, std::string("not all of it can be frozen: ") + std::strerror(error),
                   "busy", {}, "try again");
  }
  Status resume(Call&) override {
    const Cgroup group = all_.group(id_);
    if (!group.can_freeze()) return cannot();
    if (!group.freeze(false)) {
      return failure(BH_UNAVAILABLE, std::string("thawing it: ") + std::strerror(errno), "busy", {},
                     "try again");
    }
    return all_.store.mark(id_, "paused", false);
  }

 protected:
  SandboxPause(Sandboxes& all, std::string id) : all_(all), id_(std::move(id)) {}
  ~SandboxPause() = default;

 private:
  static Status cannot() {
    return failure(BH_UNIMPLEMENTED, "no control group that freezes can be made here",
                   "pause_unsupported", {},
                   "start Bulkhead as root, or in a delegated group (systemd-run --user --scope -p "
                   "Delegate=yes)");
  }

  Sandboxes& all_;
  const std::string id_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_STATE_BOX_HPP
