// The tools about sandboxes that exist: who knows which, and how each operation is told.
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kUnknown[] =
    "Sandbox not found in local registry. Call sandbox_connect or set connect_if_missing=True with "
    "connection parameters.";

struct Living : SandboxTools {
  Living() {
    gives("sandbox.get", kS1);
    gives("sandbox.health", R"({"healthy":true})");
    gives("sandbox.kill", "{}");
  }
};

std::string sandbox(int i, const char* state) {
  return R"({"sandbox":"s)" + std::to_string(i) + R"(","state":")" + state +
         R"(","created_ms":)" + std::to_string(1700000000000 + i) + R"(,"metadata":{}})";
}

}  // namespace

TEST_CASE("a sandbox that nobody here made or connected to is unknown") {
  Living t;
  for (const char* tool : {"sandbox_healthcheck", "sandbox_get_metrics"}) {
    t.call(tool, R"({"sandbox_id":"s1"})");
    CHECK(t.code == BH_FAILED_PRECONDITION);
    CHECK(t.recorded.message == kUnknown);
    CHECK(t.detail("field").empty());
    CHECK(t.detail("remedy").empty());
  }
  CHECK(t.runs("sandbox.connect") == 0);
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1","connect_if_missing":true})");
  CHECK(t.code == BH_OK);
  CHECK(json::text(t.structured(), "sandbox_id") == "s1");
  CHECK(json::boolean(t.structured(), "healthy"));
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1"})");
  CHECK(t.code == BH_OK);
  CHECK(t.runs("sandbox.connect") == 1);
  // Another persona of the same process is told what everybody is.
  t.gives("host.inspect", R"({"persona":"q"})");
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1"})");
  CHECK(t.recorded.message == kUnknown);
}

TEST_CASE("connect makes it known, kill unknown; info, list, kill and renew need no connection") {
  Living t;
  t.call("sandbox_connect", R"({"sandbox_id":"s1"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::text(t.structured(), "sandbox_id") == "s1");
  CHECK(json::text(*json::child(t.structured(), "info"), "id") == "s1");
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1"})");
  CHECK(t.code == BH_OK);
  t.call("sandbox_kill", R"({"sandbox_id":"s1"})");
  CHECK(t.text() == "{\n  \"status\": \"killed\"\n}");
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1"})");
  CHECK(t.recorded.message == kUnknown);
  t.call("sandbox_get_info", R"({"sandbox_id":"s1"})");
  CHECK(t.code == BH_OK);
  t.refuses("sandbox.kill", BH_NOT_FOUND, "there is no sandbox s9", "sandbox_not_found");
  t.call("sandbox_kill", R"({"sandbox_id":"s9"})");
  CHECK(t.code == BH_NOT_FOUND);
  CHECK(t.recorded.message == "there is no sandbox s9");
}

TEST_CASE("renew counts from now and answers with the new end") {
  Living t;
  t.gives("sandbox.renew", R"({"sandbox":"s1","expires_ms":1700000001250})");
  t.call("sandbox_renew", R"({"sandbox_id":"s1","timeout_seconds":90.5})");
  CHECK(json::integer(t.asked("sandbox.renew"), "timeout_ms") == 90500);
  CHECK(json::text(t.structured(), "expires_at") == "2023-11-14T22:13:21.250000Z");
}

TEST_CASE("a page of sandboxes: the newest first, states in any case") {
  Living t;
  std::vector<std::string> items;
  for (int i = 0; i < 45; ++i) items.push_back(sandbox(i, i % 3 == 0 ? "paused" : "running"));
  t.gives("sandbox.list", R"({"count":45})", items);
  t.call("sandbox_list", "{}");
  REQUIRE(t.code == BH_OK);
  CHECK(json::value(*json::child(t.structured(), "pagination")) ==
        *json::parse(R"({"page":1,"page_size":20,"total_items":45,"total_pages":3,"has_next_page":true})"));
  CHECK(json::text(json::list(t.structured(), "sandbox_infos")->at(0).get_object(), "id") == "s44");
  t.call("sandbox_list",
         R"({"filter":{"states":["PAUSED","Terminated"],"page":2,"page_size":10,"metadata":{"a":"b"}}})");
  CHECK(json::list(t.structured(), "sandbox_infos")->size() == 5);
  CHECK(json::text(*json::child(t.asked("sandbox.list"), "metadata"), "a") == "b");
  CHECK_FALSE(json::boolean(*json::child(t.structured(), "pagination"), "has_next_page"));
  t.call("sandbox_list", R"({"filter":{"page":9}})");
  CHECK(json::list(t.structured(), "sandbox_infos")->empty());
  t.call("sandbox_list", R"({"filter":{"page_size":201}})");
  CHECK(t.detail("field") == "/filter/page_size");
  t.gives("sandbox.list", R"({"count":0})");
  t.call("sandbox_list", R"({"filter":null})");
  CHECK(json::integer(*json::child(t.structured(), "pagination"), "total_pages") == 0);
}

TEST_CASE("metrics in MiB; what is not measured is 0 and named") {
  Living t;
  t.gives("sandbox.metrics",
          R"({"cpu_count":2,"cpu_percent":12.5,"memory_limit_bytes":2147483648,
              "memory_bytes":1572864,"processes":3,"time_ms":1700000000000})");
  t.call("sandbox_get_metrics", R"({"sandbox_id":"s1","connect_if_missing":true})");
  CHECK(json::value(t.structured()) == *json::parse(R"({"cpu_count":2.0,
    "cpu_used_percentage":12.5,"memory_total_in_mib":2048.0,"memory_used_in_mib":1.5,
    "timestamp":1700000000000})"));
  CHECK(t.text().find("\"cpu_count\": 2.0,") != std::string::npos);
  CHECK(json::child(t.result, "meta") == nullptr);
  t.gives("sandbox.metrics", R"({"cpu_count":2,"cpu_percent":null,"memory_limit_bytes":1048576,
              "memory_bytes":null,"time_ms":1})");
  t.call("sandbox_get_metrics", R"({"sandbox_id":"s1"})");
  CHECK(*json::list(*json::child(t.result, "meta"), "bulkhead/not_measured") ==
        json::array({"cpu_used_percentage", "memory_used_in_mib"}));
}

TEST_CASE("an endpoint, or why there is none") {
  Living t;
  t.gives("sandbox.endpoint", R"({"sandbox":"s1","endpoint":"127.0.0.1:8080","headers":{}})");
  t.call("sandbox_get_endpoint", R"({"sandbox_id":"s1","port":8080,"connect_if_missing":true})");
  CHECK(json::value(t.structured()) ==
        *json::parse(R"({"endpoint":"127.0.0.1:8080","headers":{},"origin":null})"));
  t.call("sandbox_get_endpoint", R"({"sandbox_id":"s1","port":0})");
  CHECK(t.detail("field") == "/port");
  t.refuses("sandbox.endpoint", BH_UNIMPLEMENTED, "no way in", "ports_unsupported");
  t.call("sandbox_get_endpoint", R"({"sandbox_id":"s1","port":1})");
  CHECK(t.code == BH_UNIMPLEMENTED);
}
