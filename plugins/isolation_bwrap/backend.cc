#include "backend.h"

#include <algorithm>
#include <bulkhead/sdk/isolation/own_files.hpp>
#include <bulkhead/sdk/isolation/seccomp_allow.hpp>

namespace bwrap {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

// An address inside this library, to find what lies beside it.
const int kHere = 0;

// What can be found without starting anything; with the features where a memo has them.
sdk::Result<Tools> find_tools(const sdk::Opening& how, bool& remembered) {
  auto config = json::parse_object(how.config());
  if (!config) return std::move(config).failure();
  Tools tools;
  auto program = find_program(std::string(json::text(*config, "bwrap")));
  if (!program) return std::move(program).failure();
  tools.features.program = std::move(*program);
  tools.helper = isolation::helper_path(&kHere, "bulkhead-bwrap-launch", BULKHEAD_HELPER_DIR);
  if (tools.helper.empty()) {
    return failure(BH_FAILED_PRECONDITION,
                   "the helper program bulkhead-bwrap-launch lies neither beside the plugin nor in "
                   "its place in libexec",
                   "no_helper", {}, "install the plugin whole");
  }
  tools.memo = isolation::Memo(std::string(how.state_dir()), {tools.features.program, tools.helper});
  tools.personas = isolation::Personas(std::string(how.state_dir()), isolation::kSingleIds);
  tools.cgroups = isolation::find_cgroups();
  remembered = recall(tools.memo, tools.features);
  return tools;
}

// The rest of what starting a sandbox takes.
Status complete(sdk::Call& call, bool remembered, Tools& tools) {
  if (!remembered) {
    auto features = find_features(tools.features.program);
    if (!features) return std::move(features).failure();
    tools.features = std::move(*features);
  }
  tools.own = isolation::own_files(call, &kHere, tools.helper);
  auto init = isolation::sealed_copy(tools.helper);
  if (!init) return std::move(init).failure();
  tools.init = std::move(*init);
  auto filter = isolation::seccomp_allow_program();
  if (!filter) return std::move(filter).failure();
  tools.filter = std::move(*filter);
  tools.environment = isolation::host_environment();
  return {};
}

std::string refusal_hint(const std::string& trouble) {
  if (trouble.find("uid map") != std::string::npos ||
      trouble.find("namespace") != std::string::npos ||
      trouble.find("Operation not permitted") != std::string::npos ||
      trouble.find("Permission denied") != std::string::npos) {
    return "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1 or "
           "kernel.apparmor_restrict_unprivileged_userns=0 (or an AppArmor profile for bwrap), and "
           "user.max_user_namespaces above 0; in a container, its own settings must allow them";
  }
  return "run the same command by hand for details";
}

// The smallest sandbox: does one start here at all?
Status trial(sdk::Call& call, const Tools& tools) {
  isolation::Profile profile;
  const Identity who =
      isolation::identity_for(profile, ::geteuid() == 0 ? Ids::kShifted : Ids::kOwn,
                              isolation::kSingleIds.trial());
  View view;
  view.home = "/";
  using isolation::Node;
  view.steps = {{"/", {Node::kHost, 0, {}}},
                {"/dev", {Node::kDevices, 0, {}}},
                {"/proc", {Node::kProc, 0, {}}}};
  OrderRequest request;
  request.tools = &tools;
  request.who = &who;
  request.profile = &profile;
  request.view = &view;
  request.argv = {"/bin/sh", "-c", ":"};
  request.cwd = "/";
  auto order = make_order(std::move(request));
  if (!order) return std::move(order).failure();
  auto launched = isolation::Launched::start(order->launch);
  if (!launched) return std::move(launched).failure();
  isolation::RunningCommand command("probe", "probe", launched->control.get(),
                                    launched->pidfd.get());
  const isolation::Ending ending = isolation::Pump(call, *launched, command, {}).run();
  if (ending.cancelled != BH_OK) return sdk::Failure(ending.cancelled);
  if (ending.exited && ending.status == 0) return {};
  const std::string text = sdk::to_utf8(ending.trouble.substr(0, ending.trouble.rfind('\n')));
  return failure(BH_FAILED_PRECONDITION,
                 "bubblewrap is there, but no sandbox starts: " +
                     (text.empty() ? std::string("it ended early") : text),
                 "refused", {}, refusal_hint(text));
}

}  // namespace

Status Backend::probe(sdk::Call& call, const sdk::Opening& how) {
  bool remembered = false;
  auto tools = find_tools(how, remembered);
  if (!tools) return std::move(tools).failure();
  if (!remembered) {
    if (auto st = complete(call, false, *tools); !st) return st;
    if (auto st = trial(call, *tools); !st) return st;
    keep(tools->memo, tools->features);
  }
  json::array controllers;
  for (const auto& [name, folder] : tools->cgroups.base) controllers.emplace_back(name);
  json::object facts;
  facts["program"] = tools->features.program;
  facts["version"] = tools->features.version;
  facts["kernel_uid"] = ::geteuid() == 0 ? isolation::kSingleIds.trial() : ::geteuid();
  facts["cgroup_version"] = tools->cgroups.version;
  facts["cgroup_controllers"] = std::move(controllers);
  facts["disable_userns"] = tools->features.has("--disable-userns");
  return call.result(json::print(facts));
}

sdk::Result<std::unique_ptr<Backend>> Backend::open(sdk::Call& call, const sdk::Opening& how) {
  bool remembered = false;
  auto tools = find_tools(how, remembered);
  if (!tools) return std::move(tools).failure();
  if (auto st = complete(call, remembered, *tools); !st) return std::move(st).failure();
  if (how.state_dir().empty()) {
    return failure(BH_INVALID_ARGUMENT, "a state folder is needed", "state_dir", "state_dir");
  }
  auto shared = std::make_shared<Shared>();
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
  request.own_home = request.own_tmp = shared_->store.folder();
  request.take_id = false;
  auto prepared = prepare(call, request);
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
  auto prepared = prepare(call, request);
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
  facts.ids = prepared->who.ids;
  facts.absent.insert(prepared->view.absent.begin(), prepared->view.absent.end());
  if (auto st = store.finish(id, facts.print()); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), std::string(profile), std::move(facts));
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::find(sdk::Call& call, std::string_view id) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto texts = shared_->store.load(id);
  if (!texts) return std::move(texts).failure();
  auto facts = Facts::parse(texts->second);
  if (!facts) return std::move(facts).failure();
  if ((facts->ids == Ids::kOwn) == (::geteuid() == 0)) {
    return failure(BH_FAILED_PRECONDITION,
                   "this sandbox was made by " +
                       std::string(facts->ids == Ids::kOwn ? "an ordinary user" : "root"),
                   "other_user", {}, "start Bulkhead as that user, or destroy it");
  }
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = texts->first;
  request.own_home = shared_->own_folder(id, "home");
  request.own_tmp = shared_->own_folder(id, "tmp");
  request.absent = &facts->absent;
  request.ids = facts->ids;
  auto prepared = prepare(call, request);
  if (!prepared) return std::move(prepared).failure();
  if (auto st = call.result(prepared->report.print()); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), texts->first, std::move(*facts));
}

Status Backend::list(sdk::Call& call) { return isolation::list_sandboxes(call, *shared_); }

Status Backend::destroy(sdk::Call& call, std::string_view id) {
  return isolation::destroy_sandbox(call, *shared_, id);
}

}  // namespace bwrap
