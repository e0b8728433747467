#include "box.h"

#include <bulkhead/sdk/isolation/ending.hpp>
#include <csignal>

namespace bwrap {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

namespace {

const char* const kIds[] = {"own", "shifted", "root"};

// The run file of a command, as long as it runs.
class Entered {
 public:
  Entered(const isolation::Store& store, const std::string& id, std::string exec)
      : store_(store), id_(id), exec_(std::move(exec)) {}
  ~Entered() { store_.leave(id_, exec_); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const isolation::Store& store_;
  const std::string& id_;
  std::string exec_;
};

// A command's own group, as long as it runs.
class Leaf {
 public:
  ~Leaf() {
    if (group.used()) (void)group.remove();
  }
  isolation::Cgroup group;
};

}  // namespace

std::string Shared::own_folder(std::string_view id, const char* name) const {
  const std::string path = store.path(id, name);
  return ::access(path.c_str(), F_OK) == 0 ? path : std::string();
}

std::string Facts::print() const {
  json::array paths;
  for (const auto& path : absent) paths.emplace_back(path);
  return json::print(json::object({{"ids", kIds[static_cast<int>(ids)]}, {"absent", paths}}));
}

sdk::Result<Facts> Facts::parse(std::string_view text) {
  auto o = json::parse_object(text);
  if (!o) return std::move(o).failure();
  Facts facts;
  for (int i = 0; i < 3; ++i) {
    if (json::text(*o, "ids") == kIds[i]) facts.ids = static_cast<Ids>(i);
  }
  const auto* absent = json::list(*o, "absent");
  for (const auto& v : absent != nullptr ? *absent : json::array()) {
    if (v.is_string()) facts.absent.emplace(json::view(v.get_string()));
  }
  return facts;
}

Status Box::exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  if (what.argc() == 0) {
    return failure(BH_INVALID_ARGUMENT, "a command needs at least its program", "argv", "argv",
                   "give a program");
  }
  // An exec() that is over before it began still must not be missed by destroy().
  if (auto st = shared_->store.enter(id_, what.id()); !st) return st;
  const Entered entered(shared_->store, id_, std::string(what.id()));
  return run(call, what, out);
}

Status Box::run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  auto options = isolation::parse_options(what.options());
  if (!options) return std::move(options).failure();
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = profile_;
  request.own_home = shared_->own_folder(id_, "home");
  request.own_tmp = shared_->own_folder(id_, "tmp");
  request.absent = &facts_.absent;
  request.ids = facts_.ids;
  auto prepared = prepare(call, request);
  if (!prepared) return std::move(prepared).failure();
  const isolation::Profile& profile = prepared->profile;

  OrderRequest order;
  Leaf leaf;
  const isolation::Cgroup group = shared_->group(id_);
  if (group.used()) {
    if (auto st = group.make(true); !st) return st;
    if (auto st = group.limit(profile.limits); !st) return st;
    leaf.group = group.child("e-" + isolation::Store::file_name(what.id()));
    if (auto st = leaf.group.make(false); !st) return st;
    if (auto st = leaf.group.limit(options->limits); !st) return st;
    leaf.group.whole_kill();
    auto doors = leaf.group.doors();
    if (!doors) return std::move(doors).failure();
    order.cgroup_doors = std::move(*doors);
  }
  const auto wall = isolation::tighter(profile.limits.wall_ms, options->limits.wall_ms);
  const isolation::Variables base =
      isolation::base_environment(prepared->view.home, prepared->who.name);
  const isolation::Variables host =
      isolation::allowed(shared_->tools.environment, profile.env_allow);
  order.tools = &shared_->tools;
  order.who = &prepared->who;
  order.profile = &profile;
  order.cwd = options->cwd.empty() ? prepared->view.cwd : options->cwd;
  order.view = &prepared->view;
  order.argv = what.argv();
  order.env = isolation::environment_list({&base, &host, &profile.env_set, &options->env});
  order.limits = isolation::resource_limits(profile.limits, options->limits,
                                            shared_->tools.cgroups,
                                            prepared->who.ids != Ids::kRoot);
  order.wall_ns = wall.value_or(0) * 1000000u;
  order.input = what.has_input();
  isolation::Pump::Settings settings;
  settings.output_bytes =
      isolation::tighter(profile.limits.output_bytes, options->limits.output_bytes);
  settings.wall_ns = order.wall_ns;

  auto made = make_order(std::move(order));
  if (!made) return std::move(made).failure();
  auto launched = isolation::Launched::start(made->launch);
  if (!launched) return std::move(launched).failure();
  const auto command = std::make_shared<isolation::RunningCommand>(
      id_, std::string(what.id()), launched->control.get(), launched->pidfd.get());
  shared_->running.add(command);
  // destroy() may have begun since enter(): it waits for this command, which ends at once.
  if (!shared_->store.note_helper(id_, what.id(), launched->pid)) command->stop();
  isolation::Ending ending = isolation::Pump(call, *launched, *command, settings).run();
  shared_->running.remove(command);
  if (!shared_->store.usable(id_)) ending.stopped = true;
  const isolation::CgroupUsage usage =
      leaf.group.used() ? leaf.group.usage() : isolation::CgroupUsage();
  return isolation::conclude(call, what, ending, *command, usage, out);
}

Status Box::inspect(sdk::Call& call) {
  json::object o;
  o["state"] = shared_->store.usable(id_) ? "running" : "stopping";
  o["commands"] = shared_->store.helpers(id_).size();
  const isolation::Cgroup group = shared_->group(id_);
  if (const int64_t n = group.used() ? group.processes() : -1; n >= 0) o["processes"] = n;
  return call.result(json::print(o));
}

Status Box::signal(sdk::Call&, std::string_view exec_id, int32_t number) {
  return isolation::signal_commands(shared_->running, shared_->store, id_, exec_id, number);
}

}  // namespace bwrap
