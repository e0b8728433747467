#include "core/coerce.h"

#include <string>

#include "base/json.h"
#include "support/catch.h"

namespace {

using bh::json::value;

value parsed(std::string_view text) {
  auto result = bh::json::parse(text);
  REQUIRE(result);
  return *result;
}

std::string coerced(std::string_view schema, std::string_view v) {
  auto compiled = bh::Schema::compile(schema);
  REQUIRE(compiled);
  return bh::json::print(bh::coerce(parsed(v), **compiled));
}

}  // namespace

TEST_CASE("texts are decoded where both are listed") {
  CHECK(coerced(R"({"type":["object","string"]})", R"("{\"a\":1}")") == R"({"a":1})");
  CHECK(coerced(R"({"type":["array","string"]})", R"(" [1, 2]")") == "[1,2]");
  CHECK(coerced(R"({"type":["boolean","string"]})", R"("true")") == "true");
  CHECK(coerced(R"({"type":["integer","string"]})", R"("-5")") == "-5");
  CHECK(coerced(R"({"type":["number","string"]})", R"("1.5")") == "1.5");
  CHECK(coerced(R"({"type":["object","string","null"]})", R"("null")") == "null");
  CHECK(coerced(R"({"anyOf":[{"type":"string"},{"type":"array"}]})", R"("[1]")") == "[1]");
  CHECK(coerced(
            R"({"oneOf":[{"$ref":"#/$defs/a"},{"type":"string"}],"$defs":{"a":{"type":"array"}}})",
            R"("[1]")") == "[1]");
}

TEST_CASE("texts stay where only one is listed, or what they say is not") {
  CHECK(coerced(R"({"type":"string"})", R"("{\"a\":1}")") == R"("{\"a\":1}")");
  CHECK(coerced(R"({"type":"object"})", R"("{}")") == R"("{}")");
  CHECK(coerced("{}", R"("5")") == R"("5")");
  CHECK(coerced(R"({"type":["string","null"]})", R"("null")") == R"("null")");
  CHECK(coerced(R"({"type":["object","string"]})", R"("[1]")") == R"("[1]")");
  CHECK(coerced(R"({"type":["integer","string"]})", R"("1.5")") == R"("1.5")");
  CHECK(coerced(R"({"type":["object","string"]})", R"("{a}")") == R"("{a}")");
  CHECK(coerced(R"({"type":["object","string"]})", R"("{} {}")") == R"("{} {}")");
  CHECK(coerced(R"({"type":["object","string"]})", R"("")") == R"("")");
  CHECK(coerced(R"({"type":["object","string"]})", R"("\"a\"")") == R"("\"a\"")");
}

TEST_CASE("decoding goes down, also into what was decoded") {
  const char* schema = R"({"type":["object","string"],
      "properties":{"edits":{"type":["array","string"],"items":{"type":["integer","string"]}},
                    "text":{"type":"string"}},
      "additionalProperties":{"type":["boolean","string"]}})";
  CHECK(coerced(schema, R"({"edits":"[1,\"2\"]","text":"[3]","other":"false"})") ==
        R"({"edits":[1,2],"text":"[3]","other":false})");
  CHECK(coerced(schema, R"("{\"edits\":\"[\\\"4\\\"]\"}")") == R"({"edits":[4]})");
}

TEST_CASE("a tree of texts ends") {
  // Each level is a text that holds the next.
  std::string text = "1";
  for (int i = 0; i < 12; ++i) text = bh::json::quote("[" + text + "]");
  auto compiled =
      bh::Schema::compile(R"({"type":["array","integer","string"],"items":{"$ref":"#"}})");
  REQUIRE(compiled);
  CHECK(bh::json::print(bh::coerce(parsed(text), **compiled)) ==
        std::string(12, '[') + "1" + std::string(12, ']'));
}

TEST_CASE("branches that multiply with every level end") {
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  CHECK(coerced(R"({"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]})", deep) == deep);
}
