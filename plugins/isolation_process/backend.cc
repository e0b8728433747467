#include "backend.h"

#include <bulkhead/sdk/isolation/report.hpp>

namespace process {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

const int kHere = 0;  // an address inside this library
constexpr char kNothing[] = "the process backend isolates nothing; choose another backend";

sdk::Result<std::string> find_helper() {
  std::string helper =
      isolation::helper_path(&kHere, "bulkhead-process-launch", BULKHEAD_HELPER_DIR);
  if (!helper.empty()) return helper;
  return failure(BH_FAILED_PRECONDITION,
                 "the helper program bulkhead-process-launch lies neither beside the plugin nor in "
                 "its place in libexec",
                 "no_helper", {}, "install the plugin whole");
}

void report_limits(const isolation::Limits& limits, const isolation::CgroupPlace& cgroups,
                   isolation::Report& report) {
  const std::string group = "cgroup v" + std::to_string(cgroups.version);
  const std::string none =
      "no control group can be made here; start Bulkhead as root, or in a "
      "delegated group (systemd-run --user --scope -p Delegate=yes)";
  auto whole = [](uint64_t n) { return static_cast<int64_t>(n); };
  auto grouped = [&](const char* rule, const char* controller, json::value value) {
    if (cgroups.has(controller)) {
      report.enforced(rule, group, std::move(value));
    } else {
      report.unsupported(rule, none, std::move(value));
    }
  };
  if (limits.memory_bytes && !cgroups.has("memory")) {
    report.partial("limits.memory_bytes", "RLIMIT_DATA",
                   "of each process's own data, not of all together: " + none,
                   whole(*limits.memory_bytes));
  } else if (limits.memory_bytes) {
    grouped("limits.memory_bytes", "memory", whole(*limits.memory_bytes));
  }
  if (limits.pids) grouped("limits.pids", "pids", whole(*limits.pids));
  if (limits.cpu) grouped("limits.cpu", "cpu", *limits.cpu);
  if (limits.disk_bytes) {
    report.partial("limits.disk_bytes", "RLIMIT_FSIZE", "of each file, not of all together",
                   whole(*limits.disk_bytes));
  }
  if (limits.wall_ms) report.enforced("limits.wall_ms", "supervisor", whole(*limits.wall_ms));
  if (limits.output_bytes) {
    report.enforced("limits.output_bytes", "supervisor", whole(*limits.output_bytes));
  }
  if (limits.open_files) {
    report.enforced("limits.open_files", "RLIMIT_NOFILE, of each process",
                    whole(*limits.open_files));
  }
}

isolation::Report report_for(const isolation::Profile& p, const isolation::CgroupPlace& cgroups) {
  isolation::Report report("process");
  report.unsupported("root.view", kNothing);
  if (p.workspace) {
    report.partial("workspace", "working folder", "everything else is as writable as it is");
  }
  if (p.home) report.partial("home", "HOME", "a variable, no more");
  if (p.tmp) report.partial("tmp", "TMPDIR", "a variable; /tmp is the host's");
  for (const auto& rule : p.files) report.unsupported("files:" + sdk::to_utf8(rule.path), kNothing);
  for (const auto& mount : p.mounts) {
    report.unsupported("mounts:" + sdk::to_utf8(mount.path), kNothing);
  }
  if (p.network == isolation::Network::kUnrestricted) {
    report.enforced("network.mode", "the host's network", "unrestricted");
  } else {
    report.unsupported("network.mode", "commands use the host's network");
  }
  if (p.network_rules) report.unsupported("network.allow", "commands use the host's network");
  report_limits(p.limits, cgroups, report);
  report.enforced("env.allow", "environment");
  if (!p.env_set.empty()) report.enforced("env.set", "environment");
  if (p.uid) report.unsupported("user.uid", "commands run as the host's user");
  if (p.gid) report.unsupported("user.gid", "commands run as the host's user");
  if (!p.user.empty()) report.unsupported("user.name", "commands run as the host's user");
  report.unsupported("persona", "personas are not kept apart");
  for (const char* rule : {"isolation.pid", "isolation.capabilities", "isolation.seccomp",
                           "isolation.kernel_uid", "isolation.hides"}) {
    report.unsupported(rule, kNothing);
  }
  report.enforced("isolation.end", cgroups.version != 0 ? "subreaper, control group" : "subreaper");
  return report;
}

}  // namespace

Status Backend::probe(sdk::Call& call, const sdk::Opening&) {
  auto helper = find_helper();
  if (!helper) return std::move(helper).failure();
  sdk::JsonObject facts;
  facts.boolean("isolates", false).number("cgroup_version", isolation::find_cgroups().version);
  return call.result(facts.str());
}

sdk::Result<std::unique_ptr<Backend>> Backend::open(sdk::Call&, const sdk::Opening& how) {
  auto helper = find_helper();
  if (!helper) return std::move(helper).failure();
  if (how.state_dir().empty()) {
    return failure(BH_INVALID_ARGUMENT, "a state folder is needed", "state_dir", "state_dir");
  }
  auto shared = std::make_shared<Shared>();
  shared->helper = std::move(*helper);
  shared->environment = isolation::host_environment();
  shared->owner = std::string(how.owner());
  shared->store = isolation::Store(std::string(how.state_dir()));
  shared->cgroups = isolation::find_cgroups();
  return std::make_unique<Backend>(std::move(shared));
}

Status Backend::plan(sdk::Call& call, std::string_view profile) {
  auto parsed = isolation::parse_profile(profile);
  if (!parsed) return std::move(parsed).failure();
  return call.result(report_for(*parsed, shared_->cgroups).print());
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::create(sdk::Call& call, std::string_view id,
                                                           std::string_view profile) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto parsed = isolation::parse_profile(profile);
  if (!parsed) return std::move(parsed).failure();
  if (auto st = shared_->store.begin(id, profile); !st) return std::move(st).failure();
  const isolation::Report report = report_for(*parsed, shared_->cgroups);
  if (auto st = call.result(report.print()); !st) return std::move(st).failure();
  if (auto st = report.meets(parsed->required); !st) return std::move(st).failure();
  for (const char* name : {"home", "tmp"}) {
    if (auto st = shared_->store.make_folder(id, name); !st) return std::move(st).failure();
  }
  if (auto st = shared_->store.finish(id, "{}"); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), std::move(*parsed));
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::find(sdk::Call& call, std::string_view id) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto texts = shared_->store.load(id);
  if (!texts) return std::move(texts).failure();
  auto parsed = isolation::parse_profile(texts->first);
  if (!parsed) return std::move(parsed).failure();
  if (auto st = call.result(report_for(*parsed, shared_->cgroups).print()); !st) {
    return std::move(st).failure();
  }
  return std::make_unique<Box>(shared_, std::string(id), std::move(*parsed));
}

namespace {

// Owns what the order borrows.
struct Order {
  isolation::LaunchOrder launch;
  std::vector<isolation::Fd> doors;
};

void take_doors(Order& order, std::vector<isolation::Fd> doors) {
  order.doors = std::move(doors);
  for (const auto& door : order.doors) order.launch.extra.push_back(door.get());
}

}  // namespace

sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> Box::start_files(sdk::Call&) {
  auto make = [&](isolation::CommandSetting setting) -> sdk::Result<Order> {
    Order order;
    order.launch.helper = shared_->helper;
    order.launch.task.limits =
        isolation::resource_limits(profile_.limits, {}, shared_->cgroups, false);
    take_doors(order, std::move(setting.doors));
    return order;
  };
  return isolation::start_file_worker(*shared_, id_, profile_.limits, make);
}

Status Box::exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  auto options = isolation::parse_options(what.options());
  if (!options) return std::move(options).failure();
  const std::string home = profile_.home ? profile_.home->source : shared_->store.path(id_, "home");
  isolation::Variables base = isolation::base_environment(home, "agent");
  for (const char* name : {"USER", "LOGNAME"}) {
    const auto it = shared_->environment.find(name);
    if (it != shared_->environment.end()) base[name] = it->second;
  }
  base["TMPDIR"] = profile_.tmp ? profile_.tmp->source : shared_->store.path(id_, "tmp");
  const isolation::Variables host = isolation::allowed(shared_->environment, profile_.env_allow);

  auto make = [&](isolation::CommandSetting setting) -> sdk::Result<Order> {
    Order order;
    isolation::LaunchOrder& launch = order.launch;
    launch.helper = shared_->helper;
    launch.input = what.has_input();
    isolation::Task& task = launch.task;
    task.argv = what.argv();
    task.env = isolation::environment_list({&base, &host, &profile_.env_set, &options->env});
    task.cwd = !options->cwd.empty() ? options->cwd
               : profile_.workspace  ? profile_.workspace->source
                                     : home;
    // RLIMIT_NPROC counts all of the user's processes, so it is no limit of a sandbox's.
    task.limits =
        isolation::resource_limits(profile_.limits, options->limits, shared_->cgroups, false);
    task.wall_ns = setting.wall_ns;
    task.rows = options->rows;
    task.columns = options->columns;
    take_doors(order, std::move(setting.doors));
    return order;
  };
  return isolation::within_sandbox(what, *shared_, id_, [&] {
    return isolation::run_command(call, what, out, *shared_, id_, profile_.limits, options->limits,
                                  make);
  });
}

}  // namespace process
