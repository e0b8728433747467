#include "box.h"

namespace landlocked {

using sdk::failure;
using sdk::Status;
namespace json = sdk::json;

std::string Facts::print() const {
  json::array paths;
  for (const auto& path : absent) paths.emplace_back(path);
  return json::print(json::object({{"uid", uid}, {"absent", paths}}));
}

sdk::Result<Facts> Facts::parse(std::string_view text) {
  auto o = json::parse_object(text);
  if (!o) return std::move(o).failure();
  Facts facts;
  facts.uid = static_cast<uint32_t>(json::integer(*o, "uid", 0));
  const auto* absent = json::list(*o, "absent");
  for (const auto& v : absent != nullptr ? *absent : json::array()) {
    if (v.is_string()) facts.absent.emplace(json::view(v.get_string()));
  }
  return facts;
}

namespace {

// Owns what the order borrows.
struct Order {
  isolation::LaunchOrder launch;
  std::vector<isolation::Fd> held;
};

sdk::Result<Order> make_order(const Tools& tools, const Prepared& prepared,
                              std::vector<isolation::Fd> doors) {
  Order order;
  const bool network = prepared.profile.network == isolation::Network::kUnrestricted;
  order.launch.helper = tools.helper;
  order.held.push_back(isolation::memory_file("wall", encode(prepared.wall)));
  if (!order.held.back()) {
    return failure(BH_RESOURCE_EXHAUSTED, "no memory file for the sandbox's rules", "memory_file");
  }
  order.launch.extra = {order.held.back().get(),
                        network ? tools.network.get() : tools.no_network.get()};
  for (auto& door : doors) {
    order.launch.extra.push_back(door.get());
    order.held.push_back(std::move(door));
  }
  return order;
}

}  // namespace

sdk::Result<Prepared> Box::prepared() const {
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = profile_;
  request.own_home = shared_->own_folder(id_, "home");
  request.own_tmp = shared_->own_folder(id_, "tmp");
  request.absent = &facts_.absent;
  return prepare(request);
}

Status Box::exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  return isolation::within_sandbox(what, *shared_, id_, [&] { return run(call, what, out); });
}

sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> Box::start_files(sdk::Call&) {
  auto prepared = this->prepared();
  if (!prepared) return std::move(prepared).failure();
  const isolation::Limits& limits = prepared->profile.limits;
  auto make = [&](isolation::CommandSetting setting) {
    auto order = make_order(shared_->tools, *prepared, std::move(setting.doors));
    if (order) {
      order->launch.task.limits = isolation::resource_limits(limits, {}, shared_->cgroups, false);
    }
    return order;
  };
  return isolation::start_file_worker(*shared_, id_, limits, make);
}

Status Box::run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  auto options = isolation::parse_options(what.options());
  if (!options) return std::move(options).failure();
  auto prepared = this->prepared();
  if (!prepared) return std::move(prepared).failure();
  const isolation::Profile& profile = prepared->profile;
  isolation::Variables base = isolation::base_environment(prepared->home, prepared->who.name);
  base["TMPDIR"] = prepared->tmp;
  const isolation::Variables host =
      isolation::allowed(shared_->tools.environment, profile.env_allow);

  auto make = [&](isolation::CommandSetting setting) {
    auto order = make_order(shared_->tools, *prepared, std::move(setting.doors));
    if (!order) return order;
    order->launch.input = what.has_input();
    isolation::Task& task = order->launch.task;
    task.argv = what.argv();
    task.env = isolation::environment_list({&base, &host, &profile.env_set, &options->env});
    task.cwd = options->cwd.empty() ? prepared->cwd : options->cwd;
    // RLIMIT_NPROC counts all of the user's processes, so it is no limit of a sandbox's.
    task.limits =
        isolation::resource_limits(profile.limits, options->limits, shared_->cgroups, false);
    task.wall_ns = setting.wall_ns;
    task.rows = options->rows;
    task.columns = options->columns;
    return order;
  };
  return isolation::run_command(call, what, out, *shared_, id_, profile.limits, options->limits,
                                make);
}

}  // namespace landlocked
