// sandbox_create: what it makes of OpenSandbox's arguments, and what it refuses.
#include "profile.h"
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

struct Creating : SandboxTools {
  explicit Creating(std::string_view config = "{}") : SandboxTools(config) {
    gives("sandbox.create", R"({"sandbox":"s1","backend":"bwrap","state":"running",
        "enforcement":{"rules":[{"rule":"network.mode","status":"enforced"}]}})");
    gives("sandbox.health", R"({"sandbox":"s1","healthy":true,"reason":null})");
    gives("sandbox.get", kS1);
    gives("sandbox.kill", "{}");
    gives("job.start", R"({"job":"j1"})");
  }
  json::object profile_for(std::string_view args) {
    call("sandbox_create", args);
    REQUIRE(code == BH_OK);
    return *json::child(asked("sandbox.create"), "profile");
  }
};

}  // namespace

TEST_CASE("create: the info has every field of upstream's, and its nulls") {
  Creating t;
  t.call("sandbox_create", R"({"image":"host"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::value(t.structured()) == *json::parse(R"({"sandbox_id":"s1","info":{"id":"s1",
    "status":{"state":"Running","reason":null,"message":null,
              "last_transition_at":"2023-11-14T22:13:20.500000Z"},
    "entrypoint":[],"expires_at":"2023-11-14T22:23:20Z","created_at":"2023-11-14T22:13:20Z",
    "image":{"image":"host","auth":null},"snapshot_id":null,"platform":null,"allocation":null,
    "metadata":{"team":"a"},"extensions":null}})"));
  CHECK(t.text_says_the_same());
  CHECK(t.text().substr(0, 26) == "{\n  \"sandbox_id\": \"s1\",\n  ");
  const json::object* meta = json::child(t.result, "meta");
  REQUIRE(meta != nullptr);
  CHECK(json::text(*json::child(*meta, "bulkhead/enforcement"), "backend") == "bwrap");
  const json::object asked = t.asked("sandbox.create");
  CHECK(json::integer(asked, "timeout_ms") == 600000);
  CHECK_FALSE(asked.contains("profile"));
  CHECK_FALSE(asked.contains("metadata"));
}

TEST_CASE("create: progress goes 0.1, 0.3, 0.8, 1.0") {
  Creating t;
  t.call("sandbox_create", R"({"image":"host"})");
  std::vector<double> steps;
  for (const std::string& event : t.recorded.events) {
    auto one = json::parse_object(event);
    REQUIRE(one.ok());
    steps.push_back(json::number(*one, "progress"));
    CHECK(json::number(*one, "total") == 1.0);
    CHECK_FALSE(json::text(*one, "message").empty());
  }
  CHECK(steps == std::vector<double>{0.1, 0.3, 0.8, 1.0});
}

TEST_CASE("create: times may be fractions, env and metadata pass") {
  Creating t;
  t.call("sandbox_create",
         R"({"image":"x","timeout_seconds":1.2345,"env":{"A":"b"},"metadata":{"k":"v"}})");
  const json::object asked = t.asked("sandbox.create");
  CHECK(json::integer(asked, "timeout_ms") == 1235);
  CHECK(json::text(*json::child(asked, "env"), "A") == "b");
  CHECK(json::text(*json::child(asked, "metadata"), "k") == "v");
  for (const char* bad : {"0", "-1", "1e300"}) {
    t.call("sandbox_create", R"({"image":"x","timeout_seconds":)" + std::string(bad) + "}");
    CHECK(t.code == BH_INVALID_ARGUMENT);
    CHECK(t.detail("field") == "/timeout_seconds");
  }
  t.call("sandbox_create", R"({"image":"x","metadata":{"bulkhead/entrypoint":"[]"}})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
}

TEST_CASE("create: resources become limits that must be enforced") {
  Creating t;
  const json::object profile =
      t.profile_for(R"({"image":"x","resource":{"cpu":"500m","memory":"512Mi"}})");
  CHECK(json::number(*json::child(profile, "limits"), "cpu") == 0.5);
  CHECK(json::integer(*json::child(profile, "limits"), "memory_bytes") == 512 << 20);
  CHECK(profile.at("required") ==
        json::value({"network.mode", "limits.cpu", "limits.memory_bytes"}));
  using toolset_sandbox::bytes_of;
  using toolset_sandbox::cores_of;
  CHECK(*cores_of("2") == 2.0);
  CHECK(*cores_of("0.5") == 0.5);
  CHECK(*bytes_of("1Gi") == int64_t{1} << 30);
  CHECK(*bytes_of("2G") == 2000000000);
  CHECK(*bytes_of("1048576") == 1048576);
  for (const char* bad : {"", "x", "-1", "1 Gi", "1GiB", "0", "1.2.3", ".", "1e9"}) {
    INFO(bad);
    CHECK_FALSE(bytes_of(bad).ok());
    CHECK_FALSE(cores_of(bad).ok());
  }
  CHECK_FALSE(bytes_of("500m").ok());
  t.call("sandbox_create", R"({"image":"x","resource":{"gpu":"1"}})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.detail("field") == "/resource/gpu");
}

TEST_CASE("create: a network policy becomes a mode that must be enforced, or is refused") {
  Creating t;
  const auto network = [&](const std::string& policy) {
    const json::object profile =
        t.profile_for(R"({"image":"x","network_policy":)" + policy + "}");
    CHECK(profile.at("required") == json::value({"network.mode"}));
    return json::print(profile.at("network"));
  };
  CHECK(network("{}") == R"({"mode":"off"})");
  CHECK(network(R"({"defaultAction":"deny","egress":[]})") == R"({"mode":"off"})");
  CHECK(network(R"({"default_action":"allow"})") == R"({"mode":"unrestricted"})");
  CHECK(network(R"({"egress":[{"action":"allow","target":"packages.example.org"}]})") ==
        R"({"mode":"allowed_hosts","allow":["packages.example.org"]})");
  for (const char* bad :
       {R"({"defaultAction":"allow","egress":[{"action":"deny","target":"a"}]})",
        R"({"egress":[{"action":"allow","target":"*.a"},{"action":"deny","target":"b.a"}]})"}) {
    t.call("sandbox_create", R"({"image":"x","network_policy":)" + std::string(bad) + "}");
    CHECK(t.code == BH_UNIMPLEMENTED);
    CHECK(t.detail("reason") == "network_policy_unsupported");
  }
}

TEST_CASE("create: credentials are both or none, and then refused; extensions are refused") {
  Creating t;
  t.call("sandbox_create", R"({"image":"x","auth_username":"u"})");
  CHECK(t.recorded.message == "auth_username and auth_password must be provided together");
  t.call("sandbox_create", R"({"image":"x","auth_username":"u","auth_password":"p"})");
  CHECK(t.code == BH_UNIMPLEMENTED);
  t.call("sandbox_create", R"({"image":"x","extensions":{"poolRef":"a"}})");
  CHECK(t.code == BH_UNIMPLEMENTED);
  CHECK(t.detail("field") == "/extensions/poolRef");
  CHECK(t.runs("sandbox.create") == 0);
  t.call("sandbox_create", R"({"image":"x","extensions":{},"auth_username":null})");
  CHECK(t.code == BH_OK);
}

TEST_CASE("create: an entrypoint is started, and shown wherever the sandbox is") {
  Creating t;
  t.call("sandbox_create", R"({"image":"x","entrypoint":["tail","-f","/dev/null"]})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.asked("job.start").at("argv") == json::value({"tail", "-f", "/dev/null"}));
  json::object kept = *json::parse_object(kS1);
  kept["metadata"] = t.asked("sandbox.create").at("metadata");
  t.gives("sandbox.get", json::print(kept));
  t.call("sandbox_get_info", R"({"sandbox_id":"s1"})");
  CHECK(t.structured().at("entrypoint") == json::value({"tail", "-f", "/dev/null"}));
  CHECK(json::child(t.structured(), "metadata")->empty());
  t.refuses("job.start", BH_NOT_FOUND, "no such program", "program_not_found");
  t.call("sandbox_create", R"({"image":"x","entrypoint":["nonesuch"]})");
  CHECK(t.code == BH_NOT_FOUND);
  CHECK(json::text(t.asked("sandbox.kill"), "sandbox") == "s1");
}

TEST_CASE("create: one that does not get ready is ended") {
  Creating t;
  t.gives("sandbox.health", R"({"healthy":false,"reason":"slow"})");
  t.call("sandbox_create",
         R"({"image":"x","ready_timeout_seconds":0.05,"health_check_polling_interval_ms":10})");
  CHECK(t.code == BH_UNAVAILABLE);
  CHECK(t.recorded.message.find("slow") != std::string::npos);
  CHECK(t.runs("sandbox.health") >= 2);
  CHECK(t.runs("sandbox.kill") == 1);
  t.call("sandbox_create", R"({"image":"x","skip_health_check":true})");
  CHECK(t.code == BH_OK);
}

TEST_CASE("create: with aliases, a language stands for an image that has it") {
  Creating t(kAliases);
  t.call("sandbox_create", R"({"language":"python"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::text(t.asked("sandbox.create"), "image") == "host");
  CHECK(json::text(*json::child(t.asked("sandbox.create"), "metadata"), "language") == "python");
  t.call("sandbox_create", "{}");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.detail("field") == "/image");
}
