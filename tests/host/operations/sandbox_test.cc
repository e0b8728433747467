#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "state/sandbox_records.h"
#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Place;
namespace json = bh::json;

namespace {

constexpr const char kGood[] =
    R"({\"rules\":[{\"rule\":\"network.mode\",\"status\":\"enforced\"}]})";
constexpr const char kWeak[] =
    R"({\"rules\":[{\"rule\":\"network.mode\",\"status\":\"partial\",\"reason\":\"half\"}]})";

std::string with_boxes(const Place& place, const std::string& members) {
  return bh_test::config_at(place.path + "/d", R"(,"isolation":{"backend":"boxes","config":{"boxes":{)" +
                                                   members + "}}}");
}
std::string reporting(const char* report, const std::string& more = {}) {
  return std::string(R"("report":")") + report + "\"" + more;
}

std::string member(const std::string& text, const char* key) {
  auto o = json::parse_object(text);
  return o ? std::string(json::get_string(*o, key)) : "no object: " + text;
}
std::string log_of(const Place& place) {
  std::ifstream file(place.path + "/d/backends/boxes/log");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
bool made(const Place& place) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(place.path + "/d/backends/boxes", none)) {
    if (entry.path().extension() == ".box") return true;
  }
  return false;
}
std::size_t count_of(Embedder& host, bh_session* by = nullptr) {
  return host.call("sandbox.list", "{}", by).items.size();
}
std::string status_of(const std::string& result, const char* rule) {
  auto o = json::parse_object(result).value();
  for (const auto& line : o["enforcement"].as_object()["rules"].as_array()) {
    if (json::get_string(line.as_object(), "rule") == rule) {
      return std::string(json::get_string(line.as_object(), "status"));
    }
  }
  return "absent";
}

}  // namespace

TEST_CASE("sandbox.create: a report, completed; what the backend does not know is taken out") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood)));
  REQUIRE(host.session != nullptr);
  Answer answer = host.call("sandbox.create", R"({"profile":{"limits":{"pids":7,"disk_bytes":9}}})");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(member(answer.result, "backend") == "boxes");
  CHECK(member(answer.result, "state") == "running");
  CHECK(status_of(answer.result, "network.mode") == "enforced");
  CHECK(status_of(answer.result, "limits.pids") == "unsupported");        // not mentioned
  CHECK(status_of(answer.result, "limits.disk_bytes") == "unsupported");  // taken out
  const std::string log = log_of(place);
  CHECK(log.find("disk_bytes") == std::string::npos);
  CHECK(log.find("\"pids\":7") != std::string::npos);
  CHECK(count_of(host) == 1);
}

TEST_CASE("no sandbox: no report, a required rule that is not enforced, a failed create") {
  struct Row {
    const char* what;
    std::string config;
    const char* args;
    bh_status code;
    const char* reason;
  };
  const Row rows[] = {
      {"no report", "", "{}", BH_INTERNAL, "no_report"},
      {"a report without rules", reporting("{}"), "{}", BH_INTERNAL, "no_report"},
      {"half enforced", reporting(kWeak), "{}", BH_FAILED_PRECONDITION, "not_enforced"},
      {"required and taken out", reporting(kGood), R"({"profile":{"limits":{"disk_bytes":9},"required":["limits.disk_bytes"]}})",
       BH_FAILED_PRECONDITION, "not_enforced"},
      {"required and not mentioned", reporting(kGood), R"({"profile":{"limits":{"pids":9},"required":["limits.pids"]}})",
       BH_FAILED_PRECONDITION, "not_enforced"},
      {"create fails", reporting(kGood, R"(,"create_fails":true)"), "{}", BH_RESOURCE_EXHAUSTED, "disk"},
      {"a value that the backend's schema lacks", reporting(kGood), R"({"profile":{"network":{"mode":"unrestricted"}}})",
       BH_INVALID_ARGUMENT, "schema"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Place place;
    Embedder host(with_boxes(place, row.config));
    REQUIRE(host.session != nullptr);
    Answer answer = host.call("sandbox.create", row.args);
    CHECK(answer.fault.code == row.code);
    CHECK(answer.fault.has(row.reason));
    CHECK_FALSE(made(place));
    CHECK(count_of(host) == 0);
    const bool began = log_of(place).find("create ") != std::string::npos;
    CHECK(began == (log_of(place).find("destroy ") != std::string::npos));
    std::error_code none;
    CHECK(std::filesystem::is_empty(place.path + "/d/sandboxes", none));
  }
}

TEST_CASE("a profile's lists have an end, and the error says which and where it is") {
  struct Row {
    const char *before, *entry, *after, *field;
  };
  const Row rows[] = {
      {R"("files":[)", R"({"path":"/x","access":"ro"})", "]", "/profile/files"},
      {R"("mounts":[)", R"({"source":"/usr","path":"/x"})", "]", "/profile/mounts"},
      {R"("network":{"mode":"off","allow":[)", R"("a.example")", "]}", "/profile/network/allow"},
      {R"("env":{"allow":[)", R"("A")", "]}", "/profile/env/allow"},
      {R"("required":[)", R"("limits.pids")", "]", "/profile/required"},
  };
  Place place;
  Embedder host(with_boxes(place, reporting(kGood)));
  for (const Row& row : rows) {
    for (const char* operation : {"sandbox.create", "sandbox.plan", "sandbox.exec"}) {
      INFO(row.field << ", " << operation);
      std::string list = row.entry;
      for (int i = 0; i < 1024; ++i) list += std::string(",") + row.entry;
      const std::string argv = operation == std::string("sandbox.exec") ? R"("argv":["say"],)" : "";
      Answer answer =
          host.call(operation, "{" + argv + "\"profile\":{" + row.before + list + row.after + "}}");
      CHECK(answer.fault.code == BH_INVALID_ARGUMENT);
      CHECK(answer.fault.has(R"("field":")" + std::string(row.field) + "\""));
      CHECK(answer.fault.has(R"("keyword":"maxItems")"));
      CHECK(answer.fault.message.find("at most 1024 items, got 1025") != std::string::npos);
    }
  }
  CHECK_FALSE(made(place));
}

TEST_CASE("a rule that is not required may be weak, and required may be empty") {
  Place place;
  Embedder host(with_boxes(place, reporting(kWeak)));
  CHECK(host.call("sandbox.create", R"({"profile":{"required":[]}})").last == BH_EVENT_RESULT);
}

TEST_CASE("sandbox.exec: events, exit, collected output, options") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood)));
  Answer answer = host.call("sandbox.exec", R"({"argv":["say","one","two"]})");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  REQUIRE(answer.items.size() == 1);
  auto started = json::parse_object(answer.items[0]).value();
  CHECK(started.contains("started"));
  CHECK(answer.out == "one");
  CHECK(answer.err == "two");
  auto result = json::parse_object(answer.result).value();
  CHECK(json::print(result["exit"]) == R"({"reason":"code","code":3,"signal":null})");
  CHECK(json::print(result["denials"]) == R"([{"rule":"files:/x"}])");
  CHECK(json::get_int(result, "stdout_bytes") == 3);

  answer = host.call("sandbox.exec", R"({"argv":["say","one","two"],"collect":true})");
  CHECK(answer.out.empty());
  result = json::parse_object(answer.result).value();
  CHECK(json::print(result["stdout"]) == R"({"text":"one","bytes":3,"missing":0})");

  answer = host.call("sandbox.exec", R"({"argv":["options"],"timeout_ms":500,"cwd":"/x"})");
  CHECK(answer.out == R"({"cwd":"/x","limits":{"wall_ms":500}})");
  answer = host.call("sandbox.exec", R"({"argv":["cat"]})", nullptr, "stdin");
  CHECK(answer.out == "stdin");
  CHECK(count_of(host) == 1);  // all of them in the default sandbox

  struct Row {
    const char* args;
    bh_status code;
    const char* word;
  };
  const Row refused[] = {
      {R"({"argv":[]})", BH_INVALID_ARGUMENT, "schema"},
      {R"({"argv":[""]})", BH_INVALID_ARGUMENT, "/argv/0"},
      {R"({"argv":["a\u0000b"]})", BH_INVALID_ARGUMENT, "/argv/0"},
      {R"({"argv":["a",{"base64":"***"}]})", BH_INVALID_ARGUMENT, "base64"},
      {R"({"argv":["a"],"env":{"A":"b"}})", BH_UNIMPLEMENTED, "exec_option_unsupported"},
      {R"({"argv":["a"],"limits":{"pids":4}})", BH_UNIMPLEMENTED, "limits.pids"},
      {R"({"argv":["a"],"sandbox":"s-none"})", BH_NOT_FOUND, "sandbox_not_found"},
      {R"({"argv":["a"],"sandbox":"../x"})", BH_NOT_FOUND, "sandbox_not_found"},
      {R"({"argv":["a"],"sandbox":"s-none","workspace":"/tmp"})", BH_INVALID_ARGUMENT, "/workspace"},
      {R"({"argv":["a"],"backend":"none"})", BH_NOT_FOUND, "backend"},
      {R"({"argv":["a"],"backend":"process"})", BH_PERMISSION_DENIED, "backend_not_permitted"},
      {R"({"argv":["a"],"workspace":"/"})", BH_PERMISSION_DENIED, "workspace_refused"},
      {R"({"argv":["a"],"profile":{"hide":[]}})", BH_INVALID_ARGUMENT, "hide"},
      {R"({"argv":["a"],"profile":{"persona":"b"}})", BH_INVALID_ARGUMENT, "persona"},
  };
  for (const Row& row : refused) {
    INFO(row.args);
    answer = host.call("sandbox.exec", row.args);
    CHECK(answer.fault.code == row.code);
    CHECK((answer.fault.details + answer.fault.message).find(row.word) != std::string::npos);
  }
}

TEST_CASE("a command that is cancelled tells what it did until then") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood)));
  bh_request* r = Embedder::request("sandbox.exec", R"({"argv":["wait"]})");
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_timeout(r, 300, nullptr) == BH_OK);
  REQUIRE(bh_start(host.session, r, host.queue, 500, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  Answer answer = host.finish(500);
  CHECK(answer.fault.code == BH_DEADLINE_EXCEEDED);
  auto details = json::parse_object(answer.fault.details).value();
  CHECK(json::print(details["partial"].as_object()["exit"]) ==
        R"({"reason":"stopped","code":null,"signal":null})");
}

TEST_CASE("process is for those who name it and may") {
  Place place;
  Embedder host(bh_test::config_at(
      place.path + "/d",
      R"(,"isolation":{"backend":"boxes","allow_unisolated":true,"config":{"process":{"report":"{\"rules\":[]}"}}})"));
  CHECK(host.call("sandbox.create", R"({"backend":"process"})").last == BH_EVENT_RESULT);
  Embedder bad(bh_test::config_at(place.path + "/e",
                                  R"(,"isolation":{"backend":"process","allow_unisolated":true})"));
  CHECK(bad.call("sandbox.create", "{}").fault.has("backend_not_permitted"));
}

TEST_CASE("a default sandbox is found again by the next host; a half-made one is swept") {
  Place place;
  std::string id;
  {
    Embedder host(with_boxes(place, reporting(kGood)));
    id = member(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
    CHECK(member(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox") == id);
  }
  {
    Embedder host(with_boxes(place, reporting(kGood)));
    CHECK(member(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox") == id);
    CHECK(log_of(place).find("find " + id) != std::string::npos);
  }
  // As a host leaves it that died in the middle of create().
  {
    auto root = bh::DataRoot::open(place.path + "/d").value();
    bh::Database db(root);
    REQUIRE(bh::SandboxRecords(db).change(id, [](bh::SandboxLife& life) -> bh::Result<void> {
      life.state = "making";
      life.actor = bh::ProcessName::self();
      life.actor.start++;
      return {};
    }));
  }
  Embedder host(with_boxes(place, reporting(kGood)));
  const std::string next = member(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
  CHECK(next != id);
  // Sweeping is the keeper's, on a thread of its own.
  for (int i = 0; i < 2000 && log_of(place).find("destroy " + id) == std::string::npos; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(log_of(place).find("destroy " + id) != std::string::npos);
  CHECK(count_of(host) == 1);
}

TEST_CASE("a default sandbox that another host ended is made anew") {
  Place place;
  Embedder one(with_boxes(place, reporting(kGood)));
  Embedder two(with_boxes(place, reporting(kGood)));
  const std::string id = member(one.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
  CHECK(two.call("sandbox.kill", R"({"sandbox":")" + id + "\"}").last == BH_EVENT_RESULT);
  const std::string next = member(one.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
  CHECK(next != id);
  CHECK(next.substr(0, 2) == "d-");
}

TEST_CASE("a persona cannot see, use or end another's sandbox; the operator can") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood)));
  bh_session* b = host.open_session(R"({"persona":"b"})");
  bh_session* boss = host.open_session(R"({"operator":true})");
  REQUIRE(b != nullptr);
  REQUIRE(boss != nullptr);
  const std::string id = member(host.call("sandbox.create", "{}", b).result, "sandbox");
  const std::string named = R"({"sandbox":")" + id + "\"";
  const std::pair<const char*, std::string> kCalls[] = {
      {"sandbox.exec", named + R"(,"argv":["say"]})"},
      {"sandbox.signal", named + R"(,"signal":9})"},
      {"sandbox.resize", named + R"(,"exec":"x","rows":1,"cols":1})"},
      {"sandbox.kill", named + "}"}};
  for (const auto& [operation, args] : kCalls) {
    INFO(operation);
    Answer answer = host.call(operation, args);
    CHECK(answer.fault.code == BH_NOT_FOUND);
    CHECK(answer.fault.has("sandbox_not_found"));
    // The same words as for one that was never there.
    std::string other = args;
    other.replace(other.find(id), id.size(), std::string(id.size(), 'x'));
    std::string message = host.call(operation, other).fault.message;
    std::string own = answer.fault.message;
    own.replace(own.find(id), id.size(), std::string(id.size(), 'x'));
    CHECK(own == message);
  }
  CHECK(count_of(host) == 0);
  CHECK(count_of(host, b) == 1);
  CHECK(count_of(host, boss) == 1);
  CHECK(host.call("sandbox.exec", named + R"(,"argv":["say","x"]})", boss).out == "x");
  CHECK(host.call("sandbox.resize", kCalls[2].second, b).fault.has("no_terminal"));
  CHECK(host.call("sandbox.kill", named + "}", boss).last == BH_EVENT_RESULT);
  CHECK(host.call("sandbox.kill", named + "}", b).fault.code == BH_NOT_FOUND);
  CHECK_FALSE(made(place));
  bh_session_free(b);
  bh_session_free(boss);
}

TEST_CASE("kill that the backend refuses keeps the record, to be tried again") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood, R"(,"destroy_fails":true)")));
  const std::string id = member(host.call("sandbox.create", "{}").result, "sandbox");
  CHECK(host.call("sandbox.kill", R"({"sandbox":")" + id + "\"}").fault.code == BH_UNAVAILABLE);
  CHECK(count_of(host) == 1);
}

TEST_CASE("plan makes nothing") {
  Place place;
  Embedder host(with_boxes(place, reporting(kWeak)));
  Answer answer = host.call("sandbox.plan", "{}");
  CHECK(answer.last == BH_EVENT_RESULT);  // it tells, and refuses nothing
  CHECK(status_of(answer.result, "network.mode") == "partial");
  CHECK_FALSE(made(place));
  CHECK(count_of(host) == 0);
}

TEST_CASE("an operator's configuration that the backend does not know is refused by name") {
  Place place;
  Embedder host(with_boxes(place, reporting(kGood, R"(,"socket":"/x")")));
  Answer answer = host.call("sandbox.create", "{}");
  CHECK(answer.fault.message.find("socket") != std::string::npos);
}
