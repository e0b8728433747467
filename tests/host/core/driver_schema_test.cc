#include "core/driver_schema.h"

#include <fstream>
#include <sstream>
#include <string>

#include "base/json.h"
#include "support/catch.h"

namespace {

using bh::DriverSchema;
using bh::json::value;
using Names = std::vector<std::string>;

value value_of(std::string_view text) {
  auto result = bh::json::parse(text);
  REQUIRE(result);
  return *result;
}

DriverSchema compiled(std::string_view text) {
  auto schema = DriverSchema::compile(text, "profile");
  INFO((schema ? std::string() : schema.error().message));
  REQUIRE(schema);
  return *schema;
}

const char* const kSmall = R"({"type":"object","properties":{
    "workspace":{"type":"object","properties":{"source":{"type":"string"},"path":{"type":"string"}}},
    "network":{"type":"object","properties":{"mode":{"enum":["off","unrestricted"]}}},
    "limits":{"type":"object","properties":{"wall_ms":{"type":"integer"}}},
    "files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"access":{"enum":["ro","hide"]}}}},
    "env":{"type":"object","properties":{"allow":{"type":"array","items":{"type":"string"}},
                                         "set":{"type":"object","additionalProperties":{"type":"string"}}}}}})";

}  // namespace

TEST_CASE("listed keys stay, the others are named") {
  const auto split = compiled(kSmall).split(value_of(R"({
      "workspace":{"source":"/w","path":"/w","access":"ro"},
      "network":{"mode":"off","allow":["example.org"]},
      "limits":{"pids":5,"memory_bytes":6},
      "env":{"allow":["LANG"],"set":{"A":"b"}},
      "user":{"uid":5,"name":"u"},
      "mounts":[{"source":"/a","path":"/data"},{"source":"/b"}],
      "hide":["/secret"]})"));
  CHECK(bh::json::print(split.kept) ==
        R"({"workspace":{"source":"/w","path":"/w"},"network":{"mode":"off"},)"
        R"("env":{"allow":["LANG"],"set":{"A":"b"}}})");
  CHECK(split.unlisted == Names{"workspace.access", "network.allow", "limits.pids",
                                "limits.memory_bytes", "user.uid", "user.name", "mounts:/data",
                                "mounts:1", "hide"});
}

TEST_CASE("an entry goes as a whole") {
  const auto split = compiled(kSmall).split(value_of(R"({"files":[
      {"path":"/a","access":"ro"},{"path":"/b","access":"ro","recursive":false}]})"));
  CHECK(bh::json::print(split.kept) == R"({"files":[{"path":"/a","access":"ro"}]})");
  CHECK(split.unlisted == Names{"files:/b"});
}

TEST_CASE("nothing to take out leaves the value as it is") {
  const value profile = value_of(R"({"network":{"mode":"off"},"limits":{},"files":[]})");
  const auto split = compiled(kSmall).split(profile);
  CHECK(split.kept == profile);
  CHECK(split.unlisted.empty());
}

TEST_CASE("a value that the driver lacks is an error, not a rule taken out") {
  const auto schema = compiled(kSmall);
  const auto split = schema.split(value_of(R"({"network":{"mode":"limited"}})"));
  CHECK(split.unlisted.empty());
  const auto result = schema.check(split.kept);
  REQUIRE_FALSE(result);
  CHECK(result.error().message ==
        "profile /network/mode: expected \"off\" or \"unrestricted\", got \"limited\"");
}

TEST_CASE("an object whose keys are not given lists none") {
  const auto schema =
      compiled(R"({"properties":{"limits":{"type":"object"},"list":{"type":"array"}}})");
  const auto split = schema.split(value_of(R"({"limits":{"pids":1},"list":["a",{"b":1}]})"));
  CHECK(bh::json::print(split.kept) == R"({"list":["a"]})");
  CHECK(split.unlisted == Names{"limits.pids", "list:1"});
}

TEST_CASE("the published profile lists itself whole") {
  std::ifstream file(BH_SOURCE_DIR "/abi/schemas/isolation_profile.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto schema = compiled(text.str());
  const value profile = value_of(R"({"root":{"view":"host"},"workspace":{"source":"/w","access":"rw"},
      "files":[{"path":"/x","access":"hide"}],"network":{"mode":"off"},"limits":{"cpu":0.5,"pids":9},
      "env":{"allow":["LANG"],"set":{"A":"b"}},"required":["network.mode"]})");
  const auto split = schema.split(profile);
  CHECK(split.unlisted.empty());
  CHECK(split.kept == profile);
  CHECK(schema.check(split.kept));
}

TEST_CASE("forms that are not plain are refused by name") {
  struct Bad {
    const char* schema;
    const char* keyword;
  };
  const Bad cases[] = {
      {R"({"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{}}})", "$ref"},
      {R"({"properties":{},"allOf":[{}]})", "allOf"},
      {R"({"properties":{"a":{"anyOf":[{}]}}})", "anyOf"},
      {R"({"properties":{"a":{"oneOf":[{}]}}})", "oneOf"},
      {R"({"properties":{"a":{"not":{}}}})", "not"},
      {R"({"properties":{"a":{"if":{}}}})", "if"},
      {R"({"properties":{"a":{"contains":{}}}})", "contains"},
      {R"({"properties":{},"patternProperties":{"a":{}}})", "patternProperties"},
      {R"({"properties":{},"propertyNames":{"maxLength":3}})", "propertyNames"},
      {R"({"properties":{},"additionalProperties":true})", "additionalProperties"},
      {R"({"properties":{"a":{"additionalProperties":{}}}})", "additionalProperties"},
      {R"({"type":"object"})", ""},
      {R"({"properties":{"a":{"prefixItems":[]}}})", "prefixItems"},
  };
  for (const Bad& bad : cases) {
    INFO(bad.schema);
    auto schema = DriverSchema::compile(bad.schema, "profile");
    REQUIRE_FALSE(schema);
    const auto details = value_of(schema.error().details);
    CHECK(details.at("reason") == "schema_unsupported");
    CHECK(bh::json::get_string(details.as_object(), "keyword") == bad.keyword);
  }
}
