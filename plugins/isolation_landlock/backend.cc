#include "backend.h"

#include <string.h>

#include <bulkhead/sdk/isolation/own_files.hpp>
#include <bulkhead/sdk/isolation/seccomp_allow.hpp>

namespace landlocked {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

// An address inside this library, to find what lies beside it.
const int kHere = 0;

sdk::Result<isolation::Fd> filter_for(int version, bool network) {
  isolation::SeccompOptions options;
  options.internet = network;
  options.host_sockets = false;
  options.shared_ipc = false;
  options.other_processes = false;
  options.path_truncate = version >= 3;
  options.other_signals = version >= isolation::kLandlockScopes;
  options.ask = true;
  return isolation::seccomp_allow_program(options);
}

sdk::Result<Tools> find_tools(sdk::Call& call, const sdk::Opening& how) {
  auto config = json::parse_object(how.config());
  if (!config) return std::move(config).failure();
  Tools tools;
  tools.version = isolation::landlock_version();
  if (tools.version < 1) {
    return failure(BH_FAILED_PRECONDITION,
                   std::string("this kernel has no Landlock, or it is off: ") + ::strerror(errno),
                   "no_landlock", {},
                   "use Linux 5.13 or later with landlock among the security modules (lsm= on the "
                   "kernel's command line); in a container, its filter must let "
                   "landlock_create_ruleset through");
  }
  tools.version = std::min(tools.version,
                           static_cast<int>(json::integer(*config, "version", tools.version)));
  tools.helper = isolation::helper_path(&kHere, "bulkhead-landlock-launch", BULKHEAD_HELPER_DIR);
  if (tools.helper.empty()) {
    return failure(BH_FAILED_PRECONDITION,
                   "the helper program bulkhead-landlock-launch lies neither beside the plugin nor "
                   "in its place in libexec",
                   "no_helper", {}, "install the plugin whole");
  }
  for (const bool network : {false, true}) {
    auto filter = filter_for(tools.version, network);
    if (!filter) return std::move(filter).failure();
    (network ? tools.network : tools.no_network) = std::move(*filter);
  }
  tools.environment = isolation::host_environment();
  tools.cgroups = isolation::find_cgroups();
  tools.own = isolation::own_files(call, &kHere, tools.helper);
  return tools;
}

// The smallest sandbox: does one start here at all?
Status trial(sdk::Call& call, const Tools& tools) {
  isolation::LaunchOrder order;
  order.helper = tools.helper;
  Wall wall;
  wall.ports = 1;
  wall.version = static_cast<uint32_t>(tools.version);
  const isolation::Fd root = isolation::open_canonical("/");
  struct stat st {};
  if (root && ::fstat(root.get(), &st) == 0) {
    wall.grants.push_back({st.st_dev, st.st_ino, landlock::kReading, 0, "/"});
  }
  const isolation::Fd bytes = isolation::memory_file("wall", encode(wall));
  order.extra = {bytes.get(), tools.no_network.get()};
  order.task.argv = {"/bin/sh", "-c", ":"};
  auto launched = isolation::Launched::start(order);
  if (!launched) return std::move(launched).failure();
  isolation::RunningCommand command("probe", "probe", launched->control.get(),
                                    launched->pidfd.get());
  const isolation::Ending ending = isolation::Pump(call, *launched, command, {}).run();
  if (ending.cancelled != BH_OK) return sdk::Failure(ending.cancelled);
  if (ending.exited && ending.status == 0) return {};
  const std::string text = sdk::to_utf8(ending.trouble.substr(0, ending.trouble.rfind('\n')));
  return failure(BH_FAILED_PRECONDITION,
                 "Landlock is there, but no sandbox starts: " +
                     (!text.empty()       ? text
                      : ending.error != 0 ? std::string(::strerror(ending.error))
                                          : std::string("it ended early")),
                 "refused", {},
                 "allow seccomp's filters with a listener, as containers do by default, and mount "
                 "/proc");
}

}  // namespace

Status Backend::probe(sdk::Call& call, const sdk::Opening& how) {
  auto tools = find_tools(call, how);
  if (!tools) return std::move(tools).failure();
  if (auto st = trial(call, *tools); !st) return st;
  json::array controllers;
  for (const auto& [name, folder] : tools->cgroups.base) controllers.emplace_back(name);
  json::object facts;
  facts["landlock"] = tools->version;
  facts["kernel_uid"] = ::geteuid();
  facts["cgroup_version"] = tools->cgroups.version;
  facts["cgroup_controllers"] = std::move(controllers);
  return call.result(json::print(facts));
}

sdk::Result<std::unique_ptr<Backend>> Backend::open(sdk::Call& call, const sdk::Opening& how) {
  auto tools = find_tools(call, how);
  if (!tools) return std::move(tools).failure();
  if (how.state_dir().empty()) {
    return failure(BH_INVALID_ARGUMENT, "a state folder is needed", "state_dir", "state_dir");
  }
  auto shared = std::make_shared<Shared>();
  tools->state = isolation::canonical(std::string(how.state_dir()));
  shared->tools = std::move(*tools);
  shared->cgroups = shared->tools.cgroups;
  shared->owner = std::string(how.owner());
  shared->store = isolation::Store(std::string(how.state_dir()));
  return std::make_unique<Backend>(std::move(shared));
}

Status Backend::plan(sdk::Call& call, std::string_view profile) {
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = std::string(profile);
  // Nothing is made, so a folder that is there already stands for those that create() would make.
  request.own_home = request.own_tmp = shared_->tools.state;
  auto prepared = prepare(request);
  if (!prepared) return std::move(prepared).failure();
  return call.result(prepared->report.print());
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::create(sdk::Call& call, std::string_view id,
                                                           std::string_view profile) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto parsed = isolation::parse_profile(profile);
  if (!parsed) return std::move(parsed).failure();
  const isolation::Store& store = shared_->store;
  if (auto st = store.begin(id, profile); !st) return std::move(st).failure();
  for (const auto& [name, needed] : {std::pair("home", !parsed->home), {"tmp", !parsed->tmp}}) {
    if (!needed) continue;
    if (auto st = store.make_folder(id, name); !st) return std::move(st).failure();
  }
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = std::string(profile);
  request.own_home = shared_->own_folder(id, "home");
  request.own_tmp = shared_->own_folder(id, "tmp");
  auto prepared = prepare(request);
  if (!prepared) return std::move(prepared).failure();
  if (auto st = call.result(prepared->report.print()); !st) return std::move(st).failure();
  if (auto st = acceptable(*prepared); !st) return std::move(st).failure();
  const isolation::Cgroup group = shared_->group(id);
  if (group.used()) {
    if (auto st = group.make(true); !st) return std::move(st).failure();
    const Status st = group.limit(prepared->profile.limits);
    group.remove_if_empty();
    if (!st) return st.failure();
  }
  Facts facts;
  facts.uid = ::geteuid();
  facts.absent.insert(prepared->absent.begin(), prepared->absent.end());
  if (auto st = store.finish(id, facts.print()); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), std::string(profile), std::move(facts));
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::find(sdk::Call& call, std::string_view id) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto texts = shared_->store.load(id);
  if (!texts) return std::move(texts).failure();
  auto facts = Facts::parse(texts->second);
  if (!facts) return std::move(facts).failure();
  if (facts->uid != ::geteuid()) {
    return failure(BH_FAILED_PRECONDITION,
                   "this sandbox was made by the user " + std::to_string(facts->uid), "other_user",
                   {}, "start Bulkhead as that user, or destroy it");
  }
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = texts->first;
  request.own_home = shared_->own_folder(id, "home");
  request.own_tmp = shared_->own_folder(id, "tmp");
  request.absent = &facts->absent;
  auto prepared = prepare(request);
  if (!prepared) return std::move(prepared).failure();
  if (auto st = call.result(prepared->report.print()); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), texts->first, std::move(*facts));
}

}  // namespace landlocked
