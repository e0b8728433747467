// samples/plugin_c, linked in and driven through its tables.
#include "support/catch.h"

#include <bulkhead/toolset.h>
#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>

namespace json = bulkhead::sdk::json;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

extern "C" {
#include "member.h"
const bh_plugin* echo_entry(bh_call* call);
}

namespace {

struct Echo {
  FakeHost host;
  bulkhead::sdk::testing::Opened<bh_toolset> tools =
      host.open<bh_toolset>(&echo_entry, BH_TOOLSET, "echo");
  bh_status call(FakeCall& c, std::string_view tool, std::string_view args) {
    return tools->call(tools.self(), c.raw(), tool.data(), tool.size(), args.data(), args.size(),
                       nullptr, 0);
  }
};

std::string_view member(std::string_view text, const char* name) {
  const bh_str s = json_member(text.data(), text.size(), name);
  return bulkhead::sdk::view(s);
}

}  // namespace

TEST_CASE("members are found past nested values and escapes") {
  const std::string text =
      R"( { "a" : {"text":[1,{"text":"no"}],"s":"}\"]"} , "b":"x\"y", "text" : "yes" } )";
  CHECK(member(text, "text") == "\"yes\"");
  CHECK(member(text, "b") == R"("x\"y")");
  CHECK(member(text, "a") == R"({"text":[1,{"text":"no"}],"s":"}\"]"})");
  CHECK(member(text, "c").empty());
  CHECK(member(R"({"n":-1.5e3})", "n") == "-1.5e3");
  CHECK(member(R"({"n":true})", "n") == "true");
  CHECK(member("{}", "n").empty());
  CHECK(member("", "n").empty());
}

TEST_CASE("member stays within any cut of a text") {
  const std::string text = R"({"a":{"b":["\\",1]},"text":"x\"y"})";
  for (size_t n = 0; n <= text.size(); ++n) {
    const std::string cut(text, 0, n);  // an allocation of its own, for the sanitizer
    const auto found = member(cut, "text");
    CHECK((found.empty() || found.data() + found.size() <= cut.data() + cut.size()));
  }
}

TEST_CASE("echo gives text and structure back, whatever the escapes") {
  Echo echo;
  for (const char* text : {R"("hello")", R"("a\"b\\c\u00e9")", R"("")"}) {
    FakeCall call(echo.host.raw());
    REQUIRE(echo.call(call, "echo", std::string("{\"text\":") + text + "}") == BH_OK);
    auto result = json::parse_object(call.recorded().result);
    REQUIRE(result.ok());
    const auto sent = *json::parse(text);
    CHECK(json::list(*result, "content")->at(0).at("text") == sent);
    CHECK(json::child(*result, "structured")->at("text") == sent);
  }
}

TEST_CASE("echo takes what its lenient schema lets through") {
  Echo echo;
  FakeCall call(echo.host.raw());
  REQUIRE(echo.call(call, "echo", R"({"message":5})") == BH_OK);
  auto result = json::parse_object(call.recorded().result);
  REQUIRE(result.ok());
  CHECK(json::child(*result, "structured")->at("text") == json::value("5"));
}

TEST_CASE("echo refuses what would not fit, and unknown tools are told apart") {
  Echo echo;
  FakeCall call(echo.host.raw());
  CHECK(echo.call(call, "echo", "{\"text\":\"" + std::string(40000, 'x') + "\"}") ==
        BH_INVALID_ARGUMENT);
  CHECK(call.recorded().details.find("/text") != std::string::npos);
  CHECK(echo.call(call, "shout", "{}") == BH_NOT_FOUND);
  CHECK(call.recorded().details.find("unknown_tool") != std::string::npos);
}

TEST_CASE("upper streams its input to its output") {
  Echo echo;
  FakeCall call(echo.host.raw());
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "abc Z\xC3\xA9\n";
  call.input(text, 4096);
  REQUIRE(echo.call(call, "upper", "{}") == BH_OK);
  std::string expected;
  for (int i = 0; i < 40000; ++i) expected += "ABC Z\xC3\xA9\n";
  CHECK(call.recorded().output[BH_STREAM_DATA] == expected);
  auto result = json::parse_object(call.recorded().result);
  REQUIRE(result.ok());
  CHECK(json::integer(*json::child(*result, "structured"), "bytes") ==
        static_cast<int64_t>(text.size()));
}

TEST_CASE("upper stops with the host's code") {
  Echo echo;
  FakeCall call(echo.host.raw());
  call.input("aaaaaaaa", 1).stop_at_emit(3);
  CHECK(echo.call(call, "upper", "{}") == BH_CANCELLED);
  CHECK(call.recorded().output[BH_STREAM_DATA] == "AAA");
  CHECK_FALSE(call.recorded().failed);
  CHECK(call.recorded().results == 0);
}
