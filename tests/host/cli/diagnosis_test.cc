#include "cli/diagnosis.h"

#include "cli/json.h"
#include "support/catch.h"
#include "temp_dir.h"
#include "text.h"

using namespace bh::cli;
using bh_test::has;

namespace {

const char* const kPlugins = R"({"plugins":[
  {"id":"bulkhead.isolation_bwrap","status":"loaded","provides":[{"interface":"bh.isolation/1",
   "id":"bwrap","probe":{"status":"PROBE","message":"it says so","hint":"install it"}}]},
  {"id":"org.example.bad","status":"refused","message":"is group-writable","hint":"chmod g-w it"},
  {"id":"bulkhead.isolation_bwrap","status":"shadowed","provides":[{"interface":"bh.isolation/1",
   "id":"bwrap"}]}]})";
const char* const kPlan = R"({"backend":"bwrap","enforcement":{"rules":[
  {"rule":"network.mode","status":"enforced","by":"netns"},
  {"rule":"limits.memory_bytes","status":"unsupported","reason":"no cgroup can be written"}]}})";

Diagnosis diagnosed(const std::string& probe, const std::string& plan) {
  Diagnosis d;
  d.version = "1.2.3";
  d.abi = "1.0";
  std::string plugins = kPlugins;
  plugins.replace(plugins.find("PROBE"), 5, probe);
  d.plugins = parse_object_or_empty(plugins);
  d.plan = parse_object_or_empty(plan);
  check_plugins(d);
  check_isolation(d);
  conclude(d);
  return d;
}

}  // namespace

TEST_CASE("a backend that works and a plan make it ready, a refused plugin is a note") {
  Diagnosis d = diagnosed("ok", kPlan);
  CHECK(d.ready);
  CHECK(d.next_step.empty());
  REQUIRE(d.checks.size() == 2);
  CHECK(d.checks[0].status == "note");
  CHECK(has(d.checks[0].message, "1 usable, 1 refused; org.example.bad: is group-writable"));
  CHECK(d.checks[0].remedy == "chmod g-w it");
  CHECK(has(d.checks[1].message, "bwrap: 1 rules enforced, 0 in part, 1 not"));
  std::string text = to_text(d);
  CHECK(has(text, "network.mode"));
  CHECK(has(text, "no cgroup can be written"));
  CHECK(has(text, "Commands can run in isolation"));
  CHECK_FALSE(has(text, "\x1b"));
  CHECK(bool_at(to_json(d), "ready"));
}

TEST_CASE("a probe that fails is the next step") {
  Diagnosis d = diagnosed("unavailable", kPlan);
  CHECK_FALSE(d.ready);
  CHECK(d.next_step == "install it");
  CHECK(has(to_text(d), "Next step: install it"));
  CHECK(string_at(to_json(d), "next_step") == "install it");
}

TEST_CASE("no plan, or one without isolation, is not ready") {
  CHECK_FALSE(diagnosed("ok", "{}").ready);
  CHECK_FALSE(diagnosed("ok", R"({"backend":"process","enforcement":{"rules":[]}})").ready);
}

TEST_CASE("no plugins at all") {
  Diagnosis d;
  check_plugins(d);
  conclude(d);
  CHECK_FALSE(d.ready);
  CHECK(has(d.next_step, "--plugin-path"));
}

TEST_CASE("the data root is looked at") {
  bh_test::TempDir dir;
  auto status = [](const std::string& path) {
    Diagnosis d;
    check_data_root(d, path);
    return d.checks.at(0).status;
  };
  std::string root = dir.make_dir("root");
  ::chmod(root.c_str(), 0700);
  CHECK(status(root) == "ok");
  ::chmod(root.c_str(), 0755);
  CHECK(status(root) == "note");
  CHECK(status(dir.path() + "/absent") == "ok");
  CHECK(status(dir.write("file", "x")) == "bad");
}

TEST_CASE("kernel facts read their files") {
  bh_test::TempDir dir;
  auto fact = [&dir](const std::string& name) {
    for (const KernelFact& f : kernel_facts(dir.path())) {
      if (f.name == name) return f.value + "|" + f.note;
    }
    return std::string();
  };
  CHECK(has(fact("user_namespaces"), "no|"));
  dir.write("proc/sys/user/max_user_namespaces", "0\n");
  CHECK(has(fact("user_namespaces"), "no|sysctl user.max_user_namespaces"));
  dir.write("proc/sys/user/max_user_namespaces", "100\n");
  CHECK(fact("user_namespaces") == "yes|");
  dir.write("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  CHECK(has(fact("user_namespaces"), "restricted|"));
  dir.write("proc/sys/kernel/unprivileged_userns_clone", "0\n");
  CHECK(has(fact("user_namespaces"), "root only|"));
  CHECK(has(fact("cgroup"), "no|"));
  dir.make_dir("sys/fs/cgroup/memory");
  CHECK(fact("cgroup") == "v1|memory");
  dir.write("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
  CHECK(fact("cgroup") == "v2|cpu memory pids");
  CHECK(has(fact("seccomp"), "no|"));
}
