// What the toolset "sandbox" publishes, held against what OpenSandbox's MCP server 1.1.1 lists.
#include <fstream>
#include <iterator>

#include "sandbox_tools.h"
#include "schemas.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

json::array reference() {
  std::ifstream file(OPENSANDBOX_TOOLS);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto parsed = json::parse_object(text);
  REQUIRE(parsed.ok());
  return *json::list(*parsed, "tools");
}

std::vector<std::string> names(const json::array& tools) {
  std::vector<std::string> out;
  for (const json::value& one : tools) {
    out.emplace_back(json::text(one.get_object(), "name"));
  }
  return out;
}

const json::object& named(const json::array& tools, std::string_view name) {
  for (const json::value& one : tools) {
    if (json::text(one.get_object(), "name") == name) return one.get_object();
  }
  FAIL("no tool " << std::string(name));
  return tools.at(0).get_object();
}

json::object accepts(const json::array& tools, std::string_view name, std::string_view property) {
  const json::object& schema = named(tools, name).at("accepts_schema").get_object();
  return *json::child(*json::child(schema, "properties"), property);
}

}  // namespace

TEST_CASE("by default there are OpenSandbox's 19 tools, in its order and with its schemas") {
  SandboxTools t;
  const json::array ours = t.listed();
  const json::array theirs = reference();
  REQUIRE(theirs.size() == 19);
  REQUIRE(names(ours) == names(theirs));
  for (size_t i = 0; i < theirs.size(); ++i) {
    const json::object& our = ours[i].get_object();
    const json::object& their = theirs[i].get_object();
    INFO(json::text(our, "name"));
    CHECK(our.at("input_schema") == their.at("inputSchema"));
    CHECK(our.at("output_schema") == their.at("outputSchema"));
    CHECK_FALSE(json::text(our, "description").empty());
    CHECK_FALSE(json::list(our, "needs")->empty());
  }
}

TEST_CASE("aliases and extras come after them, and change no more than they say") {
  SandboxTools with(R"({"aliases":true,"extras":true})");
  const json::array ours = with.listed();
  std::vector<std::string> more = names(ours);
  more.erase(more.begin(), more.begin() + 19);
  CHECK(more == std::vector<std::string>{"sandbox_execute", "sandbox_files", "sandbox_install",
                                         "sandbox_reset", "sandbox_info", "sandbox_run",
                                         "file_list", "file_upload", "file_download"});
  const json::array theirs = reference();
  for (size_t i = 0; i < theirs.size(); ++i) {
    json::object input = ours[i].get_object().at("input_schema").get_object();
    json::object original = theirs[i].get_object().at("inputSchema").get_object();
    json::object& properties = input["properties"].get_object();
    const std::string name = names(theirs)[i];
    INFO(name);
    if (name == "sandbox_create") {
      CHECK(properties.erase("language") == 1);
      original.erase("required");
    }
    if (name == "command_run") {
      CHECK(properties.erase("timeout_seconds") + properties.erase("env") == 2);
    }
    CHECK(input == original);
  }
}

TEST_CASE("what is accepted is wider than what is published, and closed") {
  SandboxTools t;
  const json::array tools = t.listed();
  for (const json::value& one : tools) {
    const json::object& schema = one.get_object().at("accepts_schema").get_object();
    CHECK(schema.at("additionalProperties") == json::value(false));
  }
  CHECK(accepts(tools, "sandbox_create", "image") == *json::parse_object(R"({"type":"string"})"));
  CHECK(accepts(tools, "sandbox_create", "timeout_seconds").at("type") ==
        json::value({"number", "string"}));
  CHECK(accepts(tools, "sandbox_create", "env").at("type") ==
        json::value({"object", "null", "string"}));
  CHECK(accepts(tools, "command_run", "background").at("type") ==
        json::value({"boolean", "string"}));
  const json::object policy = accepts(tools, "sandbox_create", "network_policy");
  CHECK(json::child(policy, "properties")->contains("default_action"));
  CHECK(policy.at("additionalProperties") == json::value(false));
  const json::object moves = accepts(tools, "file_move", "entries");
  const json::object* entry = json::child(moves, "items");
  REQUIRE(entry != nullptr);
  for (const char* key : {"source", "destination", "src", "dest"}) {
    CHECK(json::child(*entry, "properties")->contains(key));
  }
  CHECK_FALSE(entry->contains("required"));
}

TEST_CASE("a text that is not the JSON of what is due is refused by name") {
  SandboxTools t;
  t.call("file_delete", R"({"sandbox_id":"s1","paths":"[oops"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.detail("field") == "/paths");
  CHECK(t.operations.seen().empty());
  t.call("sandbox_renew", R"({"sandbox_id":"s1","timeout_seconds":"soon"})");
  CHECK(t.detail("field") == "/timeout_seconds");
}

TEST_CASE("every schema that the toolset offers parses and has no key twice") {
  SandboxTools t(R"({"aliases":true,"extras":true})");
  for (const json::value& one : t.listed()) {
    INFO(json::text(one.get_object(), "name"));
    for (const char* key : {"input_schema", "accepts_schema", "output_schema"}) {
      CHECK(json::text(*json::child(one.get_object(), key), "type") == "object");
    }
  }
}
