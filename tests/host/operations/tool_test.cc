#include "base/json.h"
#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Place;
namespace json = bh::json;

namespace {

std::string call_of(const char* tool, const std::string& arguments) {
  return std::string(R"({"name":")") + tool + R"(","arguments":)" + arguments + "}";
}

std::string first_text(const std::string& result) {
  auto o = json::parse_object(result);
  const json::array* content = o ? json::get_array(*o, "content") : nullptr;
  return content != nullptr && !content->empty()
             ? std::string(json::get_string((*content)[0].as_object(), "text"))
             : "no content: " + result;
}

}  // namespace

TEST_CASE("tool.list offers what is right and says in the log what is not") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d",
                                   R"(,"log":{"level":"warn","file":")" + place.path + R"(/log"})"));
  REQUIRE(host.session != nullptr);
  Answer answer = host.call("tool.list", "{}");
  REQUIRE(answer.last == BH_EVENT_RESULT);
  std::vector<std::string> names;
  for (const std::string& item : answer.items) {
    auto o = json::parse_object(item).value();
    names.emplace_back(json::get_string(o, "name"));
    CHECK(json::get_string(o, "plugin") == "org.example.obedient");
    CHECK(json::get_string(o, "toolset") == "tools");
  }
  CHECK(names == std::vector<std::string>{"say", "lenient", "promises", "raw", "runs", "upper", "blobs"});
  CHECK(answer.result == R"({"count":7})");
}

TEST_CASE("tool.call: arguments, names and results") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  REQUIRE(host.session != nullptr);
  struct Row {
    const char* what;
    std::string args;
    bh_status code;     // BH_OK: a result
    const char* word;   // in the details, or the first text
  };
  const Row rows[] = {
      {"plain", call_of("say", R"({"text":"hello"})"), BH_OK, "hello"},
      {"a missing argument", call_of("say", "{}"), BH_INVALID_ARGUMENT, "schema"},
      {"no arguments at all", R"({"name":"say"})", BH_INVALID_ARGUMENT, "schema"},
      {"a wrong type", call_of("say", R"({"text":5})"), BH_INVALID_ARGUMENT, "/text"},
      {"an unknown argument", call_of("say", R"({"text":"x","txet":1})"), BH_INVALID_ARGUMENT, "txet"},
      {"text for JSON where accepts_schema is", call_of("lenient", R"({"n":"[1,2]"})"), BH_OK,
       R"({"n":[1,2]})"},
      {"accepts_schema in place of input_schema", call_of("lenient", R"({"m":4})"), BH_OK,
       R"({"m":4})"},
      {"what accepts_schema refuses", call_of("lenient", R"({"k":4})"), BH_INVALID_ARGUMENT, "k"},
      {"no text for JSON without it", call_of("runs", R"({"args":"{}"})"), BH_INVALID_ARGUMENT,
       "/args"},
      {"a near miss", call_of("sya", "{}"), BH_NOT_FOUND, "unknown_tool"},
      {"a tool that was refused", call_of("keyword", "{}"), BH_NOT_FOUND, "unknown_tool"},
      {"no content", call_of("raw", R"({"text":"{}"})"), BH_INTERNAL, "plugin_misuse"},
      {"content that is none", call_of("raw", R"({"text":"{\"content\":[5]}"})"), BH_INTERNAL,
       "plugin_misuse"},
      {"no JSON", call_of("raw", R"({"text":"oops"})"), BH_INTERNAL, "plugin_misuse"},
      {"an empty content is good", call_of("raw", R"({"text":"{\"content\":[]}"})"), BH_OK,
       "no content"},
      {"a promise kept",
       call_of("promises", R"({"text":"{\"content\":[{\"type\":\"text\",\"text\":\"1\"}],\"structured\":{\"n\":1}}"})"),
       BH_OK, "1"},
      {"a promise broken",
       call_of("promises", R"({"text":"{\"content\":[],\"structured\":{\"n\":\"1\"}}"})"),
       BH_INTERNAL, "plugin_misuse"},
      {"a promise forgotten", call_of("promises", R"({"text":"{\"content\":[]}"})"), BH_INTERNAL,
       "plugin_misuse"},
      {"a failed tool promises nothing",
       call_of("promises", R"({"text":"{\"content\":[],\"is_error\":true}"})"), BH_OK, "no content"},
      {"a need that is listed", call_of("runs", R"({"text":"host.inspect"})"), BH_OK, "ran"},
      {"one that is not", call_of("runs", R"({"text":"sandbox.list"})"), BH_PERMISSION_DENIED,
       "not_needed"},
      {"a tool through a tool",
       call_of("runs", R"({"text":"tool.call","args":{"name":"say","arguments":{"text":"x"}}})"),
       BH_OK, "ran"},
      {"and its fault", call_of("runs", R"({"text":"tool.call","args":{"name":"none"}})"),
       BH_NOT_FOUND, "unknown_tool"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Answer answer = host.call("tool.call", row.args);
    if (row.code == BH_OK) {
      INFO(answer.fault.message);
      CHECK(answer.last == BH_EVENT_RESULT);
      CHECK(first_text(answer.result).find(row.word) == 0);
      continue;
    }
    CHECK(answer.fault.code == row.code);
    CHECK((answer.fault.details + answer.fault.message).find(row.word) != std::string::npos);
    if (!answer.fault.details.empty()) CHECK(json::parse_object(answer.fault.details));
  }
  Answer near = host.call("tool.call", call_of("sya", "{}"));
  CHECK(near.fault.message.find("say") != std::string::npos);
}

TEST_CASE("a tool reads the run's input and gets the request's attachments") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  Answer answer = host.call("tool.call", call_of("upper", "{}"), nullptr, "some input");
  CHECK(answer.last == BH_EVENT_RESULT);
  CHECK(answer.out == "some input");
  bh_request* r = Embedder::request("tool.call", call_of("blobs", "{}"));
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_attach(r, "a", 1, "text/plain", 10, "one", 3, nullptr) == BH_OK);
  REQUIRE(bh_request_attach(r, "b", 1, "", 0, "two", 3, nullptr) == BH_OK);
  REQUIRE(bh_start(host.session, r, host.queue, 900, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  CHECK(first_text(host.finish(900).result) == "one;two;");
}
