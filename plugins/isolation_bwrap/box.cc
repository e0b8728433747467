#include "box.h"

#include <bulkhead/sdk/isolation/points.hpp>

namespace bwrap {

using sdk::Status;
namespace json = sdk::json;

namespace {
const char* const kIds[] = {"own", "shifted", "root"};
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
  return isolation::within_sandbox(what, *shared_, id_, [&] { return run(call, what, out); });
}

sdk::Result<Prepared> Box::prepared(sdk::Call& call) const {
  PrepareRequest request;
  request.tools = &shared_->tools;
  request.profile = profile_;
  request.own_home = shared_->own_folder(id_, "home");
  request.own_tmp = shared_->own_folder(id_, "tmp");
  request.absent = &facts_.absent;
  request.ids = facts_.ids;
  return prepare(call, request);
}

sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> Box::start_files(sdk::Call& call) {
  auto prepared = this->prepared(call);
  if (!prepared) return std::move(prepared).failure();
  const isolation::Limits& limits = prepared->profile.limits;
  auto make = [&](isolation::CommandSetting setting) {
    OrderRequest order;
    order.tools = &shared_->tools;
    order.who = &prepared->who;
    order.profile = &prepared->profile;
    order.view = &prepared->view;
    order.cgroup_doors = std::move(setting.doors);
    order.limits = isolation::resource_limits(limits, {}, shared_->cgroups,
                                              prepared->who.ids != Ids::kRoot);
    return make_order(std::move(order));
  };
  return isolation::start_file_worker(*shared_, id_, limits, make);
}

Status Box::run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  auto options = isolation::parse_options(what.options());
  if (!options) return std::move(options).failure();
  auto prepared = this->prepared(call);
  if (!prepared) return std::move(prepared).failure();
  const isolation::Profile& profile = prepared->profile;
  const isolation::Variables base =
      isolation::base_environment(prepared->view.home, prepared->who.name);
  const isolation::Variables host =
      isolation::allowed(shared_->tools.environment, profile.env_allow);

  isolation::Points points(shared_->store.folder());
  auto make = [&](isolation::CommandSetting setting) {
    points.make(prepared->view);
    OrderRequest order;
    order.tools = &shared_->tools;
    order.who = &prepared->who;
    order.profile = &profile;
    order.cwd = options->cwd.empty() ? prepared->view.cwd : options->cwd;
    order.view = &prepared->view;
    order.cgroup_doors = std::move(setting.doors);
    order.argv = what.argv();
    order.env = isolation::environment_list({&base, &host, &profile.env_set, &options->env});
    order.limits = isolation::resource_limits(profile.limits, options->limits, shared_->cgroups,
                                              prepared->who.ids != Ids::kRoot);
    order.wall_ns = setting.wall_ns;
    order.rows = options->rows;
    order.columns = options->columns;
    order.input = what.has_input();
    return make_order(std::move(order));
  };
  Status st = isolation::run_command(call, what, out, *shared_, id_, profile.limits,
                                     options->limits, make);
  if (st.code() == BH_FAILED_PRECONDITION) shared_->tools.memo.forget();
  return st;
}

}  // namespace bwrap
