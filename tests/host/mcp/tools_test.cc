#include "mcp/tools.h"
#include "fake_host.h"
#include "support/catch.h"

using namespace bh_test;
using bh::mcp::Features;
using bh::mcp::Revision;

namespace {

const char* full_tool = R"({
  "name": "run", "title": "Run it", "description": "Runs.\nFast.",
  "input_schema": {"type": "object", "properties": {"z": {"default": 1.0}, "a": {"maximum": 1E3}},
                   "required": ["z"], "additionalProperties": false},
  "accepts_schema": {"type": "object"},
  "output_schema": {"type": "object", "properties": {"exit_code": {"type": "integer"}}},
  "annotations": {"read_only": false, "destructive": true, "idempotent": false, "open_world": true},
  "needs": ["sandbox.exec/1"], "plugin": "org.example.p", "toolset": "p"
})";

std::string list(Session& s, const std::string& cursor, const std::vector<std::string>& tools) {
  s.engine.feed(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{)" +
                (cursor.empty() ? "" : "\"cursor\":" + cursor) + "}}");
  uint64_t tag = s.host.started.back().tag;
  for (const std::string& t : tools) s.event(tag, BH_EVENT_ITEM, t);
  return s.result(tag, R"({"count":0})");
}

std::string named(const std::string& name) {
  return R"({"name":")" + name + R"(","description":"d","input_schema":{"type":"object"}})";
}

std::string names(const std::string& answer) {
  std::string out;
  JsonView(answer).member("result").member("tools").each_element(
      [&](JsonView t) { out += t.member("name").text() + " "; });
  return out;
}

}  // namespace

TEST_CASE("a tool is told in the words of the revision, its schemas as they were written") {
  const std::string schema =
      R"({"type":"object","properties":{"z":{"default":1.0},"a":{"maximum":1E3}},"required":["z"],"additionalProperties":false})";
  std::string newest = bh::mcp::tool_text(JsonView(full_tool), Features(Revision::v2025_11_25));
  CHECK(
      newest ==
      R"({"name":"run","title":"Run it","description":"Runs.\nFast.","inputSchema":)" + schema +
          R"(,"outputSchema":{"type":"object","properties":{"exit_code":{"type":"integer"}}},)"
          R"("annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}})");
  CHECK(
      bh::mcp::tool_text(JsonView(full_tool), Features(Revision::v2025_03_26)) ==
      R"({"name":"run","description":"Runs.\nFast.","inputSchema":)" + schema +
          R"(,"annotations":{"title":"Run it","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}})");
  CHECK(bh::mcp::tool_text(JsonView(full_tool), Features(Revision::v2024_11_05)) ==
        R"({"name":"run","description":"Runs.\nFast.","inputSchema":)" + schema + "}");
}

TEST_CASE("a schema without a type gets one, since clients refuse the list otherwise") {
  auto schema_of = [](const std::string& given) {
    return at(bh::mcp::tool_text(
                  JsonView(R"({"name":"x","description":"","input_schema":)" + given + "}"),
                  Features(Revision::v2025_11_25)),
              "inputSchema");
  };
  CHECK(schema_of("{}") == R"({"type":"object"})");
  CHECK(schema_of(R"({"properties":{}})") == R"({"type":"object","properties":{}})");
  CHECK(schema_of("3") == R"({"type":"object"})");
}

TEST_CASE("the list comes in the host's order, in pages") {
  bh::mcp::Limits limits;
  limits.page_tools = 2;
  Session s(limits);
  s.open();
  std::vector<std::string> tools = {named("d"), named("a"), named("c"),
                                    named("a"), named("b"), named("e")};
  std::string first = list(s, "", tools);
  CHECK(names(first) == "d a ");
  std::string second = list(s, at(first, "result", "nextCursor"), tools);
  CHECK(names(second) == "c b ");
  std::string third = list(s, at(second, "result", "nextCursor"), tools);
  CHECK(names(third) == "e ");
  CHECK(at(third, "result", "nextCursor").empty());

  SECTION("a cursor outlives changes elsewhere in the list") {
    tools.insert(tools.begin(), named("new"));
    CHECK(names(list(s, at(first, "result", "nextCursor"), tools)) == "c b ");
  }
  SECTION("not the end of the tool that it names") {
    tools = {named("d"), named("c")};
    CHECK(at(list(s, at(first, "result", "nextCursor"), tools), "error", "code") == "-32602");
  }
}

TEST_CASE("a list that cannot be had is an internal error") {
  Session s;
  s.open();
  s.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  CHECK(at(s.fault(s.host.started.back().tag, BH_INTERNAL, "broken"), "error", "code") == "-32603");
  s.host.refuse = Fault(BH_UNAVAILABLE, "closing");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), "error", "code") ==
        "-32603");
}
