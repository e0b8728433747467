// bulkhead/sdk/isolation/command.hpp - exec() of a backend with a helper program, but for what is
// the backend's own: how the helper's order is made.
#ifndef BULKHEAD_SDK_ISOLATION_COMMAND_HPP
#define BULKHEAD_SDK_ISOLATION_COMMAND_HPP

#include <sys/random.h>

#include <memory>

#include "cgroup_keep.hpp"
#include "ending.hpp"

namespace bulkhead::sdk::isolation {

// What a backend keeps about all of its sandboxes; shared by it and the handles it gives out. [any]
struct Sandboxes {
  std::string owner;
  Store store{""};
  RunningCommands running;
  CgroupPlace cgroups;
  KeptGroups kept_groups;

  // Named after the state folder too: groups are the machine's, and two hosts on it may give the
  // same owner and id.
  Cgroup group(std::string_view id) const {
    struct stat st {};
    (void)::stat(store.folder().c_str(), &st);
    return Cgroup(cgroups, "bulkhead-" + owner + "-" + std::string(id) + "-" +
                               std::to_string(st.st_dev) + "-" + std::to_string(st.st_ino));
  }
};

namespace detail {

// The run file of a command, as long as it runs.
class Entered {
 public:
  Entered(const Store& store, std::string id, std::string exec)
      : store_(store), id_(std::move(id)), exec_(std::move(exec)) {}
  ~Entered() { store_.leave(id_, exec_); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const Store& store_;
  std::string id_, exec_;
};

// A command's own group, as long as it runs.
class Leaf {
 public:
  Leaf() = default;
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;
  ~Leaf() {
    if (!group.used()) return;
    if (kept) {
      // Processes that go on keep their group; it goes with the sandbox, or with a later command.
      sandbox.remove_empty_below();
      return;
    }
    if (keep_ != nullptr && set_aside()) return;
    if (!group.remove()) {
      // Only what got out of the helper's reach can be in there still.
      group.kill();
      (void)group.remove();
    }
    sandbox.remove_if_empty();
  }

  // Makes the sandbox's group and the command's below it. `keep`: where one that is over is found,
  // and where this one goes; outlives it.
  Status make(const Cgroup& around, const std::string& id, const Limits& profile,
              const Limits& command, KeptGroups* keep = nullptr) {
    if (!around.used()) return {};
    keep_ = keep;
    id_ = id;
    sandbox = around;
    limited_ = command.cpu || command.memory_bytes || command.pids;
    Status st;
    if (!take_kept()) {
      group = around.child(new_name());
      // A command that ends may take the empty group above away just now: then it is made again.
      for (int attempt = 0; attempt < 16; ++attempt) {
        st = sandbox.make(true);
        if (st) st = sandbox.limit(profile);
        if (st) st = group.make(false);
        if (st || errno != ENOENT) break;
      }
    }
    if (st) st = group.limit(command);
    if (st) group.whole_kill();
    return st;
  }
  Cgroup sandbox, group;
  bool kept = false;

 private:
  // Another process of the same owner may make groups below the same sandbox's.
  static std::string new_name() {
    uint64_t random = 0;
    (void)!::getrandom(&random, sizeof random, 0);
    return "c-" + std::to_string(random);
  }
  bool take_kept() {
    auto found = keep_ != nullptr ? keep_->take(id_) : std::nullopt;
    if (!found) return false;
    if (found->command.used()) {
      group = found->command;
      if (group.renew()) return true;
      (void)group.remove();
      return false;
    }
    group = sandbox.child(new_name());
    return bool(group.make(false));
  }
  // False: something is in the group still. One that had limits of its own serves nobody else.
  bool set_aside() {
    KeptGroups::Pair pair{sandbox, {}};
    if (!limited_ && group.can_serve_again()) {
      pair.command = group;
    } else if (!group.remove()) {
      return false;
    }
    keep_->give(id_, std::move(pair));
    return true;
  }

  KeptGroups* keep_ = nullptr;
  std::string id_;
  bool limited_ = false;
};

}  // namespace detail

// Starts what `order` says: by its own start(), or as a helper program from its T::launch.
template <class T>
auto start_order(T& order, int) -> decltype(order.start()) {
  return order.start();
}
template <class T>
auto start_order(T& order, long) -> decltype(Launched::start(order.launch)) {
  return Launched::start(order.launch);
}

// What a backend needs for its order: descriptors of the control groups to join, the limits.
struct CommandSetting {
  std::vector<Fd> doors;
  uint64_t wall_ns = 0;
};

inline Status not_paused(const Store& store, std::string_view id) {
  if (!store.marked(id, "paused")) return {};
  return failure(BH_FAILED_PRECONDITION, "the sandbox is paused", "paused", {}, "resume it first");
}

// Runs one command. `make`: CommandSetting -> Result<T> with a T::launch (LaunchOrder), whatever that
// borrows and, where no helper program is to be started for it, a start() of its own.
template <class Make>
Status run_command(Call& call, const Exec& what, Exit& out, Sandboxes& all, const std::string& id,
                   const Limits& profile, const Limits& command, Make make) {
  CommandSetting setting;
  detail::Leaf leaf;
  auto st = leaf.make(all.group(id), id, profile, command, &all.kept_groups);
  if (!st) return st;
  // Who pauses it marks it first and then freezes the groups that there are: one of both sees the other.
  if (st = not_paused(all.store, id); !st) return st;
  if (leaf.group.used()) {
    auto doors = leaf.group.doors();
    if (!doors) return std::move(doors).failure();
    setting.doors = std::move(*doors);
  }
  // As nanoseconds, to which a time of day is added, more than a century is no number any more.
  constexpr uint64_t kLongestMs = uint64_t{100} * 365 * 24 * 3600 * 1000;
  setting.wall_ns =
      std::min(tighter(profile.wall_ms, command.wall_ms).value_or(0), kLongestMs) * 1000000u;
  Pump::Settings settings;
  settings.output_bytes = tighter(profile.output_bytes, command.output_bytes);
  settings.wall_ns = setting.wall_ns;

  auto order = make(std::move(setting));
  if (!order) return std::move(order).failure();
  auto launched = start_order(*order, 0);
  if (!launched) return std::move(launched).failure();
  const auto running = std::make_shared<RunningCommand>(
      id, std::string(what.id()), launched->control.get(), launched->pidfd.get());
  all.running.add(running);
  // destroy() may have begun since the command entered: it waits for this one, which ends at once.
  if (!all.store.note_helper(id, what.id(), launched->pid)) running->stop();
  Ending ending = Pump(call, *launched, *running, settings).run();
  all.running.remove(running);
  leaf.kept = order->launch.task.keep != 0 && ending.exited && !ending.time_up &&
              !ending.output_over && !ending.stopped && ending.cancelled == BH_OK;
  if (!all.store.usable(id)) ending.stopped = true;
  return conclude(call, what, ending, *running,
                  leaf.group.used() ? leaf.group.usage() : CgroupUsage(), out);
}

// Registers the command for as long as body() runs, so that destroy() waits for it.
template <class Body>
Status within_sandbox(const Exec& what, Sandboxes& all, const std::string& id, Body body) {
  if (what.argc() == 0 || what.arg(0).empty()) {
    return failure(BH_INVALID_ARGUMENT, "a command needs at least its program", "argv", "argv",
                   "give a program");
  }
  if (auto st = all.store.enter(id, what.id()); !st) return st;
  const detail::Entered entered(all.store, id, std::string(what.id()));
  if (auto st = not_paused(all.store, id); !st) return st;
  return body();
}

inline Status inspect_sandbox(Call& call, const Sandboxes& all, const std::string& id) {
  json::object o;
  o["state"] = !all.store.usable(id)            ? "stopping"
               : all.store.marked(id, "paused") ? "paused"
                                                : "running";
  o["commands"] = all.store.helpers(id).size();
  const Cgroup group = all.group(id);
  if (const int64_t n = group.used() ? group.processes() : -1; n >= 0) o["processes"] = n;
  return call.result(json::print(o));
}

inline Status list_sandboxes(Call& call, const Sandboxes& all) {
  for (const auto& [id, state] : all.store.list()) {
    JsonObject o;
    o.text("id", id).text("state", state);
    if (auto st = call.item(o.str()); !st) return st;
  }
  return {};
}

inline Status check_sandbox_id(std::string_view id) {
  bool fine = !id.empty() && id.size() <= 63;
  for (const char c : id) {
    fine = fine && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  }
  if (fine) return {};
  return failure(BH_INVALID_ARGUMENT, "a sandbox's id is 1 to 63 of a-z, 0-9 and -", "id", "id");
}

// What is frozen cannot be killed in v1.
inline void thaw_for_end(const Sandboxes& all, std::string_view id) {
  const Cgroup group = all.group(id);
  if (group.used() && all.store.marked(id, "paused")) (void)group.freeze(false);
}

inline Status destroy_sandbox(Call& call, Sandboxes& all, std::string_view id) {
  if (auto st = check_sandbox_id(id); !st) return st;
  thaw_for_end(all, id);
  const Cgroup group = all.group(id);
  for (const auto& command : all.running.find(id)) command->stop();
  if (auto st = all.store.destroy(call, id); !st) return st;
  all.kept_groups.forget(id);
  if (!group.used() || group.remove()) return {};
  // Only a command whose helper was killed from outside can be in there still.
  group.kill();
  if (group.remove()) return {};
  return failure(BH_UNAVAILABLE, "processes of " + std::string(id) + " have not ended yet", "busy",
                 {}, "try again");
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_COMMAND_HPP
