// bulkhead/sdk/isolation/ending.hpp - from how a command ended to what exec() answers, and the rest
// that backends with a helper program have in common: resource limits, signals.
#ifndef BULKHEAD_SDK_ISOLATION_ENDING_HPP
#define BULKHEAD_SDK_ISOLATION_ENDING_HPP

#include <sys/resource.h>
#include <sys/wait.h>

#include <cstring>

#include "../json.hpp"
#include "cgroup.hpp"
#include "pump.hpp"
#include "store.hpp"

namespace bulkhead::sdk::isolation {

// What rlimits add where there is no control group; of each process. `count_pids`: RLIMIT_NPROC
// works here, which it does not for the kernel's id 0.
inline std::vector<Limit> resource_limits(const Limits& profile, const Limits& command,
                                          const CgroupPlace& cgroups, bool count_pids) {
  std::vector<Limit> out;
  auto add = [&](int resource, const std::optional<uint64_t>& value) {
    if (value) out.push_back({static_cast<uint32_t>(resource), *value});
  };
  add(RLIMIT_NOFILE, tighter(profile.open_files, command.open_files));
  add(RLIMIT_FSIZE, tighter(profile.disk_bytes, command.disk_bytes));
  if (!cgroups.has("memory")) add(RLIMIT_DATA, tighter(profile.memory_bytes, command.memory_bytes));
  if (!cgroups.has("pids") && count_pids) {
    // The init that watches over the command is one of that user's too.
    if (auto pids = tighter(profile.pids, command.pids)) add(RLIMIT_NPROC, *pids + 1);
  }
  return out;
}

namespace detail {

inline Status not_run(Call& call, const Exec& what, const Ending& ending, Exit& out) {
  const std::string program = to_utf8(what.arg(0));
  const std::string why = std::strerror(ending.error);
  switch (ending.not_run) {
    case Note::kFolder:
      if (ending.error == ESTALE) {
        return failure(BH_FAILED_PRECONDITION,
                       "the workspace was moved, or another put in its place, since the sandbox was "
                       "built",
                       "cwd", "workspace", "put it back, or make a new sandbox");
      }
      return failure(BH_FAILED_PRECONDITION,
                     "the working folder cannot be entered inside the sandbox: " + why, "cwd",
                     "cwd", "name a folder that exists inside");
    case Note::kProgram: {
      // As a shell reports it; the result tells it apart from a program that ends with that code.
      out.exited(ending.error == ENOENT || ending.error == ENOTDIR ? 127 : 126);
      const std::string text = ending.error == ENOENT && program.find('/') == std::string::npos
                                   ? program + ": command not found\n"
                                   : program + ": " + why + "\n";
      if (auto st = call.emit(BH_STREAM_STDERR, text); !st) return st;
      return call.result(json::print(json::object(
          {{"not_run", {{"program", program}, {"errno", ending.error}, {"message", why}}}})));
    }
    case Note::kTerminals:
      return failure(BH_FAILED_PRECONDITION, "no terminal can be made inside: " + why, "no_terminal",
                     "tty", "leave tty out, or choose another backend");
    case Note::kLimits:
      return failure(BH_FAILED_PRECONDITION, "a limit cannot be set: " + why, "limits", "limits",
                     "loosen the limit, or drop it");
    case Note::kConfine:
      return failure(BH_FAILED_PRECONDITION, "the sandbox cannot be closed around it: " + why,
                     "set_up", {}, "see `bulkhead doctor` for what this machine allows");
    default:
      return failure(BH_RESOURCE_EXHAUSTED, "no process can be started: " + why, "processes", {},
                     "raise the limit of processes");
  }
}

}  // namespace detail

// Fills `out` and says what exec() returns.
inline Status conclude(Call& call, const Exec& what, const Ending& ending,
                       const RunningCommand& command, const CgroupUsage& usage, Exit& out) {
  out.wall = std::chrono::nanoseconds(ending.wall_ns);
  out.cpu = std::chrono::nanoseconds(usage.cpu_ns >= 0 ? usage.cpu_ns : ending.cpu_ns);
  out.peak_bytes = usage.peak_bytes;
  out.leftovers = ending.leftovers;
  out.output_open = ending.output_open;
  if (ending.exited && WIFEXITED(ending.status)) out.exited(WEXITSTATUS(ending.status));
  if (ending.exited && WIFSIGNALED(ending.status)) out.killed(WTERMSIG(ending.status));
  if (ending.cancelled != BH_OK) {
    out.reason = BH_EXIT_STOPPED;
    return Failure(ending.cancelled);
  }
  const bool killed = out.signal == SIGKILL || out.code == 128 + SIGKILL || !ending.exited;
  if (ending.output_over) {
    out.reason = BH_EXIT_OUTPUT;
  } else if (ending.time_up && killed) {
    out.reason = BH_EXIT_TIME;
  } else if (usage.memory_kills > 0 && killed && (ending.started || ending.exited)) {
    out.reason = BH_EXIT_MEMORY;
  } else if (ending.stopped && killed) {
    out.reason = BH_EXIT_STOPPED;
  } else if (out.signal != 0 && out.signal == command.last_signal()) {
    out.reason = BH_EXIT_STOPPED;
  } else if (!ending.exited && ending.not_run != 0) {
    return detail::not_run(call, what, ending, out);
  } else if (!ending.exited && !ending.started) {
    const std::string text = to_utf8(ending.trouble.substr(0, ending.trouble.rfind('\n')));
    return failure(BH_FAILED_PRECONDITION,
                   "the sandbox cannot be set up: " +
                       (text.empty() ? std::string("the helper program ended early") : text),
                   "set_up", {}, "see `bulkhead doctor` for what this machine allows");
  } else if (!ending.exited) {
    out.reason = BH_EXIT_LOST;
  }
  if (usage.memory_kills > 0) {
    return call.result(json::print(
        json::object({{"usage", json::object({{"memory_kills", usage.memory_kills}})}})));
  }
  return {};
}

// A signal to all processes of a command, or of all commands of the sandbox, whichever process of
// this owner runs them.
inline Status signal_commands(const RunningCommands& running, const Store& store,
                              std::string_view sandbox, std::string_view exec, int32_t number) {
  if (number < 1 || number > 64) {
    return failure(BH_INVALID_ARGUMENT, "there is no signal " + std::to_string(number), "signal",
                   "signal", "signals are 1 to 64");
  }
  bool reached = false;
  for (const auto& command : running.find(sandbox, exec)) {
    reached = command->signal(number) || reached;
  }
  if (!reached) {
    for (const Fd& helper : store.helpers(sandbox, exec)) {
      siginfo_t info{};
      info.si_signo = SIGRTMIN + 1;
      info.si_code = SI_QUEUE;
      info.si_value.sival_int = number;
      reached = ::syscall(424, helper.get(), SIGRTMIN + 1, &info, 0u) == 0 || reached;
    }
  }
  if (!reached) return failure(BH_NOT_FOUND, "no such command runs", "exec_ended");
  return {};
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_ENDING_HPP
