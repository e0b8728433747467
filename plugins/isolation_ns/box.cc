#include "box.h"

#include <sys/resource.h>

namespace ns {

using sdk::Status;
namespace json = sdk::json;

std::string Facts::print() const {
  json::array paths;
  for (const auto& path : absent) paths.emplace_back(path);
  return json::print(json::object({{"root", root}, {"absent", paths}}));
}

sdk::Result<Facts> Facts::parse(std::string_view text) {
  auto o = json::parse_object(text);
  if (!o) return std::move(o).failure();
  Facts facts;
  facts.root = json::boolean(*o, "root", false);
  const auto* absent = json::list(*o, "absent");
  for (const auto& v : absent != nullptr ? *absent : json::array()) {
    if (v.is_string()) facts.absent.emplace(json::view(v.get_string()));
  }
  return facts;
}

std::string Shared::own_folder(std::string_view id, const char* name) const {
  const std::string path = store.path(id, name);
  return ::access(path.c_str(), F_OK) == 0 ? path : std::string();
}

sdk::Result<Prepared> Shared::prepare(std::string_view id, std::string_view profile,
                                      const Facts* facts) const {
  PrepareRequest request;
  request.tools = &tools;
  request.profile = std::string(profile);
  request.own_home = own_folder(id, "home");
  request.own_tmp = own_folder(id, "tmp");
  request.upper = own_folder(id, "root");
  if (facts != nullptr) request.absent = &facts->absent;
  return ns::prepare(request);
}

std::shared_ptr<Live> Shared::live(const std::string& id, Prepared prepared) {
  std::lock_guard lock(m_);
  auto& known = lives_[id];
  if (!known) known = std::make_shared<Live>(tools, broker, store.folder(), std::move(prepared));
  return known;
}

std::shared_ptr<Live> Shared::forget(const std::string& id) {
  std::lock_guard lock(m_);
  const auto it = lives_.find(id);
  if (it == lives_.end()) return nullptr;
  std::shared_ptr<Live> live = std::move(it->second);
  lives_.erase(it);
  return live;
}

namespace {

// One start; owns what it borrows.
struct Order {
  isolation::LaunchOrder launch;
  std::shared_ptr<Live> live;
  std::vector<isolation::Fd> doors;
  sdk::Result<isolation::Launched> start() { return live->start(launch, doors); }
};

}  // namespace

sdk::Result<bh_fd> Box::dial(sdk::Call& call, uint32_t port) {
  if (port == 0 || port > 65535) {
    return sdk::failure(BH_INVALID_ARGUMENT, "there is no port " + std::to_string(port), "port", "port",
                        "ports are 1 to 65535");
  }
  // With the host's network a port inside is one of the host's, whoever listens there.
  if (live_->prepared().entry.own_network == 0) {
    return sdk::failure(BH_UNIMPLEMENTED,
                        "this sandbox uses the host's network and has no ports of its own",
                        "not_offered", {}, "connect to the host's port, or set network.mode to off");
  }
  auto fd = live_->dial(call, port);
  if (!fd) return std::move(fd).failure();
  return fd->release();
}

Status Box::exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  return isolation::within_sandbox(what, *shared_, id_, [&] { return run(call, what, out); });
}

sdk::Result<std::unique_ptr<isolation::HeldFileWorker>> Box::start_files(sdk::Call& call) {
  if (auto st = live_->build(call); !st) return std::move(st).failure();
  const isolation::Limits& limits = live_->prepared().profile.limits;
  auto make = [&](isolation::CommandSetting setting) -> sdk::Result<Order> {
    Order order;
    order.live = live_;
    order.doors = std::move(setting.doors);
    order.launch.task.limits = isolation::resource_limits(limits, {}, shared_->cgroups, true);
    order.launch.task.limits.push_back({RLIMIT_CORE, 0});
    return order;
  };
  return isolation::start_file_worker(*shared_, id_, limits, make);
}

Status Box::run(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) {
  auto options = isolation::parse_options(what.options());
  if (!options) return std::move(options).failure();
  if (auto st = live_->build(call); !st) return st;
  const Prepared& p = live_->prepared();
  const isolation::Variables base = isolation::base_environment(p.view.home, p.who.name);
  const isolation::Variables host =
      isolation::allowed(shared_->tools.environment, p.profile.env_allow);
  auto make = [&](isolation::CommandSetting setting) -> sdk::Result<Order> {
    Order order;
    order.live = live_;
    order.doors = std::move(setting.doors);
    order.launch.input = what.has_input();
    isolation::Task& task = order.launch.task;
    task.argv = what.argv();
    task.env = isolation::environment_list({&base, &host, &p.profile.env_set, &options->env});
    task.cwd = options->cwd.empty() ? p.view.cwd : options->cwd;
    // What the host shows at that path may have become another folder; the mount is not there then.
    for (const auto& source : p.view.sources) {
      if (!options->cwd.empty() || !p.profile.workspace || source.path != p.profile.workspace->source) continue;
      task.cwd_device = source.device;
      task.cwd_inode = source.inode;
    }
    task.limits =
        isolation::resource_limits(p.profile.limits, options->limits, shared_->cgroups, true);
    task.limits.push_back({RLIMIT_CORE, 0});
    task.wall_ns = setting.wall_ns;
    task.rows = options->rows;
    task.columns = options->columns;
    task.keep = p.profile.shared_processes ? 1 : 0;
    return order;
  };
  return isolation::run_command(call, what, out, *shared_, id_, p.profile.limits, options->limits,
                                make);
}

}  // namespace ns
