#include "loader/manifest.h"

#include <string>

#include "base/json.h"
#include "loader/names.h"
#include "support/catch.h"

namespace {

bh::json::object right() {
  return *bh::json::parse_object(R"({
    "manifest_version": 1, "id": "org.example.echo", "name": "Echo", "version": "1.2.0",
    "vendor": "Example", "license": "MIT", "abi": {"major": 1, "min_minor": 0},
    "provides": [{"interface": "bh.toolset/1", "id": "echo", "title": "Echo",
                  "capabilities": {"a": 1}}],
    "library": {"linux-x86_64": "./lib/echo.so"},
    "sha256": {"linux-x86_64":
      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}})");
}

bh::Checked<bh::Manifest> parse(const bh::json::object& object) {
  return bh::parse_manifest(bh::json::print(object));
}

// Sets `key` of the object at `place` to `value` (JSON; empty: takes it away), and gives the
// complaint.
std::string complaint(const std::string& place, const std::string& key, const std::string& value) {
  bh::json::value manifest = right();
  auto* object = &manifest.at_pointer(place).as_object();
  if (value.empty()) {
    object->erase(key);
  } else {
    (*object)[key] = *bh::json::parse(value);
  }
  const auto parsed = parse(manifest.as_object());
  if (parsed) return "";
  CHECK(parsed.error().stage == bh::LoadStage::manifest);
  CHECK(parsed.error().status == bh::PluginStatus::refused);
  CHECK_FALSE(parsed.error().hint.empty());
  return parsed.error().message;
}

}  // namespace

TEST_CASE("a manifest is read whole") {
  const auto manifest = parse(right());
  REQUIRE(manifest);
  CHECK(manifest->id == "org.example.echo");
  CHECK(manifest->version == "1.2.0");
  CHECK(manifest->abi_major == 1);
  REQUIRE(manifest->provides.size() == 1);
  CHECK(manifest->provides[0].interface == "bh.toolset/1");
  CHECK(manifest->provides[0].capabilities.at("a") == 1);
  CHECK(manifest->library.at("linux-x86_64") == "lib/echo.so");
}

TEST_CASE("sha256, title and capabilities may be left out") {
  bh::json::object manifest = right();
  manifest.erase("sha256");
  auto& provider = manifest["provides"].as_array()[0].as_object();
  provider.erase("title");
  provider.erase("capabilities");
  const auto parsed = parse(manifest);
  REQUIRE(parsed);
  CHECK(parsed->provides[0].title == "echo");
  CHECK(parsed->sha256.empty());
}

TEST_CASE("what is wrong with a manifest is named by its place") {
  const struct {
    std::string place, key, value, expected;
  } cases[] = {
      {"", "manifest_version", "2", "/manifest_version must be a whole number from 1 to 1"},
      {"", "manifest_version", "", "/manifest_version is missing"},
      {"", "id", "", "/id is missing"},
      {"", "id", "\"echo\"", "/id must be a name in reverse DNS form"},
      {"", "id", "\"org.Example.echo\"", "/id must be"},
      {"", "id", "\"org..echo\"", "/id must be"},
      {"", "id", "\"../../etc\"", "/id must be"},
      {"", "name", "7", "/name must be text"},
      {"", "name", "\"two\\nlines\"", "/name must be text"},
      {"", "name", "\"\"", "/name must be text"},
      {"", "version", "\"1.0 beta\"", "/version must be"},
      {"", "licence", "\"MIT\"", "/licence is not a key that this host knows"},
      {"", "abi", "1", "/abi must be an object"},
      {"/abi", "major", "\"1\"", "/abi/major must be a whole number"},
      {"/abi", "minor", "0", "/abi/minor is not a key"},
      {"", "provides", "[]", "/provides must be a list"},
      {"", "provides", "[7]", "/provides/0 must be an object"},
      {"/provides/0", "interface", "\"bh.toolset\"", "/provides/0/interface must be"},
      {"/provides/0", "interface", "\"bh.toolset/01\"", "/provides/0/interface must be"},
      {"/provides/0", "id", "\"Echo\"", "/provides/0/id must be"},
      {"/provides/0", "id", "\"-echo\"", "/provides/0/id must be"},
      {"/provides/0", "capabilities", "[]", "/provides/0/capabilities must be an object"},
      {"/provides/0", "tools", "1", "/provides/0/tools is not a key"},
      {"", "library", "{}", "/library must name 1 to 32 platforms"},
      {"/library", "linux", "\"a.so\"", "/library/linux is not a platform"},
      {"/library", "linux-x86_64", "\"/lib/a.so\"", "/library/linux-x86_64 must be a path below"},
      {"/library", "linux-x86_64", "\"a/../b.so\"", "/library/linux-x86_64 must be a path below"},
      {"/library", "linux-x86_64", "\"a//b.so\"", "/library/linux-x86_64 must be a path below"},
      {"/library", "linux-x86_64", "\"\"", "/library/linux-x86_64 must be a path below"},
      {"/library", "linux-x86_64", "\"a\\u0000b\"", "/library/linux-x86_64 must be a path below"},
      {"/sha256", "linux-x86_64", "\"ABC\"", "/sha256/linux-x86_64 must be 64 lower-case"},
  };
  for (const auto& each : cases) {
    const std::string got = complaint(each.place, each.key, each.value);
    INFO(each.place << "/" << each.key << " = " << each.value << ": " << got);
    CHECK(got.rfind("plugin.json: " + each.expected, 0) == 0);
  }
}

TEST_CASE("whoever reads of a wrong manifest reads what to do about it") {
  const auto hint = [](const std::string& key, const char* value) {
    bh::json::object manifest = right();
    manifest.erase(key);
    if (value != nullptr) manifest[key] = *bh::json::parse(value);
    const auto parsed = parse(manifest);
    REQUIRE_FALSE(parsed);
    return parsed.error().hint;
  };
  CHECK(hint("vendor", nullptr) ==
        "add it to plugin.json, or install the plugin again as its author gives it out");
  CHECK(hint("vendor", "7") ==
        "correct /vendor in plugin.json, or install the plugin again as its author gives it out");
  CHECK(hint("manifest_version", "2").rfind("use a host that is new enough", 0) == 0);
  CHECK(hint("library", "{}").find(bh::own_platform()) != std::string::npos);
}

TEST_CASE("one name is offered once") {
  bh::json::object manifest = right();
  auto& provides = manifest["provides"].as_array();
  provides.push_back(provides[0]);
  const auto parsed = parse(manifest);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message ==
        "plugin.json: /provides/1 offers bh.toolset/1 \"echo\" a second time");
}

TEST_CASE("a manifest has its limits") {
  CHECK_FALSE(bh::parse_manifest(std::string(bh::kManifestLimit + 1, ' ')));
  CHECK_FALSE(bh::parse_manifest(""));
  CHECK_FALSE(bh::parse_manifest("[]"));
  CHECK_FALSE(bh::parse_manifest(std::string(1000, '[')));
  CHECK_FALSE(bh::parse_manifest(R"({"manifest_version":1,"manifest_version":1})"));
}

TEST_CASE("a manifest for another host is not for this one") {
  bh::Manifest manifest;
  manifest.abi_major = 1;
  manifest.library[std::string(bh::own_platform())] = "a.so";
  CHECK(bh::suits_host(manifest));
  manifest.abi_major = 2;
  CHECK(bh::suits_host(manifest).error().message == "built for plugin ABI 2; this host speaks 1");
  CHECK(bh::suits_host(manifest).error().stage == bh::LoadStage::abi);
}
