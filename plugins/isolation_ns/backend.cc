#include "backend.h"

#include <algorithm>
#include <bulkhead/sdk/isolation/own_files.hpp>
#include <bulkhead/sdk/isolation/seccomp_allow.hpp>

namespace ns {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

// An address inside this library, to find what lies beside it.
const int kHere = 0;

// What can be found without starting anything.
sdk::Result<Tools> find_tools(const sdk::Opening& how) {
  Tools tools;
  tools.helper = isolation::helper_path(&kHere, "bulkhead-ns-broker", BULKHEAD_HELPER_DIR);
  if (tools.helper.empty()) {
    return failure(BH_FAILED_PRECONDITION,
                   "the helper program bulkhead-ns-broker lies neither beside the plugin nor in "
                   "its place in libexec",
                   "no_helper", {}, "install the plugin whole");
  }
  tools.memo = isolation::Memo(std::string(how.state_dir()), {tools.helper});
  tools.cgroups = isolation::find_cgroups();
  if (::geteuid() != 0) tools.sub_ids = isolation::find_sub_ids();
  tools.personas = isolation::Personas(std::string(how.state_dir()), isolation::kIdRanges);
  return tools;
}

// The rest of what starting a sandbox takes.
Status complete(sdk::Call& call, Tools& tools) {
  auto filter = isolation::seccomp_allow_program({});
  if (!filter) return std::move(filter).failure();
  tools.filter = std::move(*filter);
  isolation::SeccompOptions packages;
  packages.chroot = true;
  auto wider = isolation::seccomp_allow_program(packages);
  if (!wider) return std::move(wider).failure();
  tools.packages_filter = std::move(*wider);
  packages.set_id_modes = true;
  auto widest = isolation::seccomp_allow_program(packages);
  if (!widest) return std::move(widest).failure();
  tools.set_id_filter = std::move(*widest);
  tools.environment = isolation::host_environment();
  tools.own = isolation::own_files(call, &kHere, tools.helper);
  return {};
}

// The smallest sandbox: does one start here at all?
Status trial(sdk::Call& call, const Tools& tools, const std::string& state) {
  Prepared p;
  if (::geteuid() == 0) {
    p.who = isolation::identity_for(p.profile, isolation::Ids::kShifted, 0);
    p.who.uid = isolation::kIdRanges.trial() + p.who.inside_uid;
    p.who.gid = isolation::kIdRanges.trial() + p.who.inside_gid;
  } else {
    p.who = isolation::identity_for(p.profile, isolation::Ids::kOwn, 0);
  }
  using isolation::Node;
  p.view.steps = {{"/", {Node::kHost, 0, {}}},
                  {"/dev", {Node::kDevices, 0, {}}},
                  {"/proc", {Node::kProc, 0, {}}}};
  struct stat home {};
  if (!state.empty() && ::stat(state.c_str(), &home) == 0) {
    // Where all sandboxes' own folders lie: can it be mounted with other ids?
    isolation::Source source;
    source.path = isolation::canonical(state);
    source.device = home.st_dev;
    source.inode = home.st_ino;
    source.read_only = 1;
    if (p.who.ids == isolation::Ids::kShifted) {
      source.owner = home.st_uid;
      source.group = home.st_gid;
    }
    p.view.sources.push_back(std::move(source));
    p.view.steps.push_back({"/tmp", {Node::kSource, 0, {}}});
  }
  draw(p);
  BrokerClient broker(tools.helper);
  Live live(tools, broker, {}, std::move(p));
  if (auto st = live.build(call); !st) return st;
  isolation::LaunchOrder order;
  order.task.argv = {"/bin/sh", "-c", ":"};
  order.task.cwd = "/";
  auto launched = live.start(order, {});
  if (!launched) return std::move(launched).failure();
  isolation::RunningCommand command("probe", "probe", launched->control.get(),
                                    launched->pidfd.get());
  const isolation::Ending ending = isolation::Pump(call, *launched, command, {}).run();
  if (ending.cancelled != BH_OK) return sdk::Failure(ending.cancelled);
  if (ending.exited && ending.status == 0) return {};
  const std::string text = sdk::to_utf8(ending.trouble.substr(0, ending.trouble.rfind('\n')));
  return failure(BH_FAILED_PRECONDITION,
                 "a sandbox can be built, but no command runs in it: " +
                     (text.empty() ? std::string("it ended early") : text),
                 "namespaces", {}, "another backend may work: bwrap, landlock");
}

// Where an image's root keeps what this sandbox writes: up and work, as the overlay wants them.
Status make_upper(const isolation::Store& store, std::string_view id) {
  for (const char* name : {"root", "root/up", "root/work"}) {
    if (auto st = store.make_folder(id, name); !st) return st;
  }
  return {};
}

// They belong to the sandbox's root, which may be written to by nobody else.
Status own_upper(const isolation::Store& store, std::string_view id, const isolation::Identity& who) {
  if (who.ids != isolation::Ids::kShifted) return {};
  const uint32_t uid = who.uid - who.inside_uid, gid = who.gid - who.inside_gid;
  for (const char* name : {"root", "root/up", "root/work"}) {
    const std::string path = store.path(id, name);
    if (::access(path.c_str(), F_OK) != 0) continue;
    if (::chown(path.c_str(), uid, gid) != 0 || ::chmod(path.c_str(), 0755) != 0) {
      return failure(BH_INTERNAL, "cannot give " + path + " to the sandbox", "state_dir");
    }
  }
  return {};
}

Status clear_with_sub_ids(sdk::Call& call, Shared& shared, std::string_view id) {
  // Whatever the sandbox's user was inside, the ids outside are these.
  isolation::Identity who = isolation::identity_for({}, isolation::Ids::kOwn, 0);
  who.inside_uid = who.inside_gid = isolation::kSubIds;
  Blueprint blueprint;
  draw_sub_ids(who, shared.tools.sub_ids, blueprint);
  blueprint.clear = isolation::canonical(shared.store.path(id));
  BrokerClient::Plan plan;
  plan.blueprint = encode(blueprint);
  plan.entry = encode(Entry());
  plan.filter = shared.tools.filter.get();
  auto made = shared.broker.make(call, plan);
  if (!made) return std::move(made).failure();
  shared.broker.drop(*made);
  return {};
}

}  // namespace

Status Backend::probe(sdk::Call& call, const sdk::Opening& how) {
  auto tools = find_tools(how);
  if (!tools) return std::move(tools).failure();
  json::object nothing;
  if (!tools->memo.recall(nothing)) {
    if (auto st = complete(call, *tools); !st) return st;
    if (auto st = trial(call, *tools, std::string(how.state_dir())); !st) return st;
    tools->memo.keep({});
  }
  json::array controllers;
  for (const auto& [name, folder] : tools->cgroups.base) controllers.emplace_back(name);
  json::object facts;
  facts["kernel_uid"] = ::geteuid() == 0 ? isolation::kIdRanges.first : ::geteuid();
  facts["cgroup_version"] = tools->cgroups.version;
  facts["cgroup_controllers"] = std::move(controllers);
  facts["landlock"] = isolation::landlock_version();
  return call.result(json::print(facts));
}

sdk::Result<std::unique_ptr<Backend>> Backend::open(sdk::Call& call, const sdk::Opening& how) {
  auto tools = find_tools(how);
  if (!tools) return std::move(tools).failure();
  if (auto st = complete(call, *tools); !st) return std::move(st).failure();
  if (how.state_dir().empty()) {
    return failure(BH_INVALID_ARGUMENT, "a state folder is needed", "state_dir", "state_dir");
  }
  auto shared = std::make_shared<Shared>(std::move(*tools));
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
  auto prepared = prepare(request);
  if (!prepared) return std::move(prepared).failure();
  // What probe() has tried holds for our own folders; elsewhere only trying tells.
  struct stat home {};
  (void)::stat(shared_->store.folder().c_str(), &home);
  const auto& sources = prepared->blueprint.sources;
  if (std::any_of(sources.begin(), sources.end(), [&](const isolation::Source& source) {
        return source.owner != isolation::kNobody && source.device != home.st_dev;
      })) {
    auto made = shared_->broker.make(call, plan_of(shared_->tools, *prepared));
    if (!made) return std::move(made).failure();
    shared_->broker.drop(*made);
  }
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
  if (parsed->root == "image") {
    if (auto st = make_upper(store, id); !st) return std::move(st).failure();
  }
  auto prepared = shared_->prepare(id, profile, nullptr);
  if (!prepared) return std::move(prepared).failure();
  isolation::Report report = prepared->report;
  const Status fine = acceptable(*prepared);
  if (!fine) {
    if (auto st = call.result(report.print()); !st) return std::move(st).failure();
    return fine.failure();
  }
  if (auto st = own_upper(store, id, prepared->who); !st) return std::move(st).failure();
  const isolation::Cgroup group = shared_->group(id);
  if (group.used()) {
    if (auto st = group.make(true); !st) return std::move(st).failure();
    const Status st = group.limit(prepared->profile.limits);
    group.remove_if_empty();
    if (!st) return st.failure();
  }
  Facts facts;
  facts.root = ::geteuid() == 0;
  facts.absent.insert(prepared->view.absent.begin(), prepared->view.absent.end());
  auto live = shared_->live(std::string(id), std::move(*prepared));
  if (auto st = live->build(call); !st) return std::move(st).failure();
  if (live->memory_root()) {
    report.partial("root.image", "overlay in memory",
                   "the folder of this sandbox cannot carry an overlay (it lies on one itself): what "
                   "is written outside of workspace, home and tmp is lost when Bulkhead ends");
  }
  if (auto st = call.result(report.print()); !st) return std::move(st).failure();
  if (auto st = report.meets(parsed->required); !st) return std::move(st).failure();
  if (auto st = store.finish(id, facts.print()); !st) return std::move(st).failure();
  return std::make_unique<Box>(shared_, std::string(id), std::move(live));
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Backend::find(sdk::Call& call, std::string_view id) {
  if (auto st = isolation::check_sandbox_id(id); !st) return std::move(st).failure();
  auto texts = shared_->store.load(id);
  if (!texts) return std::move(texts).failure();
  auto facts = Facts::parse(texts->second);
  if (!facts) return std::move(facts).failure();
  if (facts->root != (::geteuid() == 0)) {
    return failure(BH_FAILED_PRECONDITION,
                   "this sandbox was made by " +
                       std::string(facts->root ? "root" : "an ordinary user"),
                   "other_user", {}, "start Bulkhead as that user, or destroy it");
  }
  auto prepared = shared_->prepare(id, texts->first, &*facts);
  if (!prepared) return std::move(prepared).failure();
  if (auto st = call.result(prepared->report.print()); !st) return std::move(st).failure();
  auto live = shared_->live(std::string(id), std::move(*prepared));
  return std::make_unique<Box>(shared_, std::string(id), std::move(live));
}

Status Backend::list(sdk::Call& call) { return isolation::list_sandboxes(call, *shared_); }

Status Backend::destroy(sdk::Call& call, std::string_view id) {
  // Commands first: they end as stopped, not as lost.
  if (auto st = isolation::check_sandbox_id(id); !st) return st;
  isolation::thaw_for_end(*shared_, id);
  for (const auto& command : shared_->running.find(id)) command->stop();
  if (auto live = shared_->forget(std::string(id))) live->end();
  const Status st = isolation::destroy_sandbox(call, *shared_, id);
  if (st || st.code() != BH_INTERNAL || !shared_->tools.sub_ids.usable()) return st;
  // Files of other ids in folders of other ids: who has those ids removes them.
  if (auto cleared = clear_with_sub_ids(call, *shared_, id); !cleared) return cleared;
  return isolation::destroy_sandbox(call, *shared_, id);
}

}  // namespace ns
