// bulkhead/sdk/isolation/report_limits.hpp - the report's lines about limits, by what this machine can
// do. How the disk is limited is a backend's own matter.
#ifndef BULKHEAD_SDK_ISOLATION_REPORT_LIMITS_HPP
#define BULKHEAD_SDK_ISOLATION_REPORT_LIMITS_HPP

#include <string>

#include "cgroup_find.hpp"
#include "profile.hpp"
#include "report.hpp"

namespace bulkhead::sdk::isolation {

// `counted`: RLIMIT_NPROC counts the sandbox's processes alone, in a user namespace of its own.
inline void report_limits(const Limits& limits, const CgroupPlace& cgroups, bool counted,
                          Report& report) {
  const std::string group = "cgroup v" + std::to_string(cgroups.version);
  const std::string none =
      "no control group can be made here; start Bulkhead as root, or in a delegated group "
      "(systemd-run --user --scope -p Delegate=yes)";
  auto number = [](uint64_t n) { return static_cast<int64_t>(n); };
  if (limits.memory_bytes) {
    const int64_t value = number(*limits.memory_bytes);
    if (cgroups.has("memory")) {
      report.enforced("limits.memory_bytes", group, value);
    } else {
      report.partial("limits.memory_bytes", "RLIMIT_DATA",
                     "of each process's own data, not of all together: " + none, value);
    }
  }
  if (limits.pids) {
    const int64_t value = number(*limits.pids);
    if (cgroups.has("pids")) {
      report.enforced("limits.pids", group, value);
    } else if (!counted) {
      report.unsupported("limits.pids", none, value);
    } else {
      report.partial("limits.pids", "RLIMIT_NPROC in the user namespace",
                     "of each command, not of the whole sandbox: " + none, value);
    }
  }
  if (limits.cpu) {
    if (cgroups.has("cpu")) {
      report.enforced("limits.cpu", group, *limits.cpu);
    } else {
      report.unsupported("limits.cpu", none, *limits.cpu);
    }
  }
  if (limits.wall_ms) {
    report.enforced("limits.wall_ms", "supervisor, pid namespace", number(*limits.wall_ms));
  }
  if (limits.output_bytes) {
    report.enforced("limits.output_bytes", "supervisor", number(*limits.output_bytes));
  }
  if (limits.open_files) {
    report.enforced("limits.open_files", "RLIMIT_NOFILE, of each process",
                    number(*limits.open_files));
  }
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_REPORT_LIMITS_HPP
