// The isolation backend `fence`: a command reads what its user may, and writes below its workspace
// and HOME alone. Landlock holds it to that, in the helper program (launch.cc).
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/isolation/command.hpp>
#include <bulkhead/sdk/isolation/environment.hpp>
#include <bulkhead/sdk/isolation/report.hpp>

namespace sdk = bulkhead::sdk;
using namespace sdk::isolation;

namespace {

const int kHere = 0;  // an address inside this library
// The host reports what is not listed as unsupported, and refuses it where it is required.
constexpr char kProfile[] = R"({"type":"object","additionalProperties":false,"properties":{
  "workspace":{"type":"object","additionalProperties":false,"required":["source"],
    "properties":{"source":{"type":"string"}}},
  "env":{"type":"object","additionalProperties":false,"properties":{
    "allow":{"type":"array","items":{"type":"string"}},
    "set":{"type":"object","additionalProperties":{"type":"string"}}}},
  "required":{"type":"array","items":{"type":"string"}}}})";
constexpr char kExec[] = R"({"type":"object","additionalProperties":false,"properties":{
  "cwd":{"type":"string"},"env":{"type":"object","additionalProperties":{"type":"string"}}}})";

struct Shared : Sandboxes {
  std::string helper;
  Variables environment = host_environment();
};

Report report_for(const Profile& p) {
  Report report("fence");
  const bool stands = ::geteuid() != 0 && landlock_version() >= 3;
  const char* gap = "root can do more than write; before Linux 6.2 files can be cut short";
  if (p.workspace && stands) report.enforced("workspace", "Landlock");
  if (p.workspace && !stands) report.partial("workspace", "Landlock", gap);
  report.partial("root.view", "Landlock", "modes, times and owners of files can change");
  report.enforced("env.allow", "environment");
  if (!p.env_set.empty()) report.enforced("env.set", "environment");
  report.enforced("isolation.end", "subreaper");
  return report;
}

struct Box : sdk::Sandbox {
  Box(std::shared_ptr<Shared> all, std::string_view name, Profile rules)
      : shared(std::move(all)), id(name), profile(std::move(rules)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override {
    auto options = parse_options(what.options());
    if (!options) return std::move(options).failure();
    const std::string home = shared->store.path(id, "home");
    const std::string folder = profile.workspace ? profile.workspace->source : home;
    const Variables base = base_environment(home, "agent");
    const Variables host = allowed(shared->environment, profile.env_allow);
    struct Order {
      LaunchOrder launch;
      Fd home, folder;
    };
    auto make = [&](const CommandSetting&) -> sdk::Result<Order> {
      Order order;
      order.home.reset(::open(home.c_str(), O_PATH | O_CLOEXEC));
      order.folder.reset(::open(folder.c_str(), O_PATH | O_CLOEXEC));
      if (!order.home || !order.folder) {
        return sdk::failure(BH_FAILED_PRECONDITION, "the workspace " + folder + " cannot be opened",
                            "workspace", "workspace.source", "make it");
      }
      order.launch.helper = shared->helper;
      order.launch.input = what.has_input();
      order.launch.extra = {order.home.get(), order.folder.get()};
      order.launch.task.argv = what.argv();
      order.launch.task.env = environment_list({&base, &host, &profile.env_set, &options->env});
      order.launch.task.cwd = options->cwd.empty() ? folder : options->cwd;
      return order;
    };
    return within_sandbox(what, *shared, id, [&] {
      return run_command(call, what, out, *shared, id, profile.limits, options->limits, make);
    });
  }
  sdk::Status signal(sdk::Call&, std::string_view exec_id, int32_t number) override {
    return signal_commands(shared->running, shared->store, id, exec_id, number);
  }

  const std::shared_ptr<Shared> shared;
  const std::string id;
  const Profile profile;
};

class Backend : public sdk::Isolation {
 public:
  static sdk::Status probe(sdk::Call& call, const sdk::Opening&) {
    if (landlock_version() >= 1) return call.result("{}");
    return sdk::failure(BH_FAILED_PRECONDITION, "this kernel has no Landlock", "landlock", {},
                        "boot Linux 5.13 or later with lsm=landlock,...");
  }
  explicit Backend(const sdk::Opening& how) {
    shared_->helper = helper_path(&kHere, "fence-launch", BULKHEAD_HELPER_DIR);
    shared_->owner = std::string(how.owner());
    shared_->store = Store(std::string(how.state_dir()));
  }
  sdk::Status plan(sdk::Call& call, std::string_view profile) override {
    auto parsed = parse_profile(profile);
    return parsed ? call.result(report_for(*parsed).print()) : parsed.status();
  }
  using Made = sdk::Result<std::unique_ptr<sdk::Sandbox>>;
  Made create(sdk::Call& call, std::string_view id, std::string_view profile) override {
    auto parsed = parse_profile(profile);
    if (!parsed) return std::move(parsed).failure();
    if (auto st = check_sandbox_id(id); !st) return std::move(st).failure();
    if (auto st = shared_->store.begin(id, profile); !st) return std::move(st).failure();
    if (auto st = report_for(*parsed).meets(parsed->required); !st) return std::move(st).failure();
    if (auto st = shared_->store.make_folder(id, "home"); !st) return std::move(st).failure();
    if (auto st = shared_->store.finish(id, "{}"); !st) return std::move(st).failure();
    return find(call, id);
  }
  Made find(sdk::Call& call, std::string_view id) override {
    if (auto st = check_sandbox_id(id); !st) return std::move(st).failure();
    auto texts = shared_->store.load(id);
    if (!texts) return std::move(texts).failure();
    auto parsed = parse_profile(texts->first);
    if (!parsed) return std::move(parsed).failure();
    if (auto st = call.result(report_for(*parsed).print()); !st) return std::move(st).failure();
    return std::make_unique<Box>(shared_, id, std::move(*parsed));
  }
  sdk::Status list(sdk::Call& call) override { return list_sandboxes(call, *shared_); }
  sdk::Status destroy(sdk::Call& call, std::string_view id) override {
    return destroy_sandbox(call, *shared_, id);
  }

 private:
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace

BULKHEAD_PLUGIN(sdk::Plugin("org.example.fence", "Fence", BULKHEAD_PLUGIN_VERSION)
                    .vendor("Example")
                    .license("Apache-2.0")
                    .isolation<Backend>(
                        "fence", sdk::Provides()
                                     .title("Writes stay in the workspace")
                                     .capabilities(R"({"strength":"process","persistent":true})")
                                     .profile_schema(kProfile)
                                     .exec_schema(kExec)));
