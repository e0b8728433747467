#include <bulkhead/host.h>

#include "cli/client.h"
#include "cli/diagnosis.h"
#include "cli/exec_args.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

// The operation's result, or a check that says why there is none.
json::object ask(Client& client, Diagnosis& d, const char* check, const char* operation,
                 const std::string& args, const std::string& doing) {
  tl::expected<Answer, Failure> answer = client.ask(operation, args, doing);
  if (answer) return parse_object_or_empty(answer->result);
  const Problem& p = answer.error().problem;
  d.checks.push_back({check, "bad", p.message, p.remedy});
  return {};
}

void ask_host(Diagnosis& d, const Options& options) {
  tl::expected<Client, Failure> client = Client::open(d.setup);
  if (!client) {
    const Problem& p = client.error().problem;
    d.checks.push_back({"host", "bad", p.message, p.remedy});
    check_data_root(d, d.setup.data_root.value);
    check_workspace_setting(d);
    return;
  }
  d.host = ask(*client, d, "host", "host.inspect", "{}", "asking the library");
  check_data_root(d, string_at(d.host, "data_root"));
  check_workspace_setting(d);
  d.plugins = ask(*client, d, "plugins", "plugin.list", "{\"probe\":true}", "trying the backends");
  if (!d.plugins.empty()) check_plugins(d);
  json::object plan;
  if (options.backend) plan["backend"] = *options.backend;
  d.plan =
      ask(*client, d, "isolation", "sandbox.plan", json::serialize(plan), "planning a sandbox");
  check_isolation(d);
}

}  // namespace

int verb_doctor(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(failure_of(setup.error()), options.json);
  Diagnosis d;
  d.version = bh_version_text();
  d.abi = std::to_string(bh_plugin_abi() >> 16) + "." + std::to_string(bh_plugin_abi() & 0xFFFF);
  d.setup = std::move(*setup);
  d.kernel = kernel_facts();
  check_config(d);
  ask_host(d, options);
  conclude(d);
  if (!print(options.json ? json::serialize(to_json(d)) + "\n" : to_text(d))) return kExitOurs;
  return d.ready ? 0 : 1;
}

}  // namespace bh::cli
