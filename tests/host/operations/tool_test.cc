#include <chrono>
#include <fstream>
#include <thread>

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

TEST_CASE("a toolset that could not be opened is tried again after a pause") {
  Place place;
  const std::string needed = place.path + "/needed";
  Embedder host(bh_test::config_at(
      place.path + "/d",
      R"(,"toolsets":{"config":{"tools":{"open_needs":")" + needed + R"("}}})"));
  REQUIRE(host.session != nullptr);
  Answer first = host.call("tool.list", "{}");
  CHECK(first.items.empty());
  CHECK(first.result.find("there is no " + needed) != std::string::npos);
  const std::string say = call_of("say", R"({"text":"hello"})");
  CHECK(host.call("tool.call", say).fault.has("unknown_tool"));
  std::ofstream(needed) << "here";
  Answer later;
  for (int tries = 0; tries < 200 && later.last != BH_EVENT_RESULT; tries++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    later = host.call("tool.call", say);
  }
  CHECK(first_text(later.result) == "hello");
  Answer list = host.call("tool.list", "{}");
  CHECK(list.result == R"({"count":7})");
}

TEST_CASE("who waits for another's opening of a toolset is stopped in time") {
  Place place;
  const std::string awaited = place.path + "/awaited";
  Embedder host(bh_test::config_at(
      place.path + "/d",
      R"(,"toolsets":{"config":{"tools":{"open_waits_for":")" + awaited + R"("}}})"));
  REQUIRE(host.session != nullptr);
  bh_request* r = Embedder::request("tool.list", "{}");
  REQUIRE(r != nullptr);
  bh_run* opens = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 1001, &opens, nullptr) == BH_OK);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(bh_request_timeout(r, 100, nullptr) == BH_OK);
  bh_run* waits = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 1002, &waits, nullptr) == BH_OK);
  CHECK(host.finish(1002).fault.code == BH_DEADLINE_EXCEEDED);
  REQUIRE(bh_request_timeout(r, 0, nullptr) == BH_OK);
  bh_run* cancelled = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 1003, &cancelled, nullptr) == BH_OK);
  bh_run_cancel(cancelled);
  CHECK(host.finish(1003).fault.code == BH_CANCELLED);
  std::ofstream(awaited) << "here";
  CHECK(host.finish(1001).items.size() == 7);
  for (bh_run* run : {opens, waits, cancelled}) bh_run_free(run);
  bh_request_free(r);
}

TEST_CASE("attachments for the embedder's own tool come before its ask, where it wants them") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  REQUIRE(host.session != nullptr);
  bh_queue* asks = nullptr;
  REQUIRE(bh_queue_new(host.runtime, &asks, nullptr) == BH_OK);
  const std::string tool =
      R"({"tool":{"name":"mine","description":"x","input_schema":{"type":"object"}})";
  bh_request* r = Embedder::request("tool.call", R"({"name":"mine"})");
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_attach(r, "a", 1, "text/plain", 10, "one", 3, nullptr) == BH_OK);
  for (const char* more : {"}", R"(,"attachments":false})"}) {
    bh_server* v = nullptr;
    const std::string offer = tool + more;
    REQUIRE(bh_serve(host.session, offer.data(), offer.size(), asks, 7, &v, nullptr) == BH_OK);
    REQUIRE(bh_start(host.session, r, host.queue, 900, nullptr, nullptr) == BH_OK);
    Answer refused = host.finish(900);
    CHECK(refused.fault.code == BH_INVALID_ARGUMENT);
    CHECK(refused.fault.message.find("\"attachments\": true") != std::string::npos);
    bh_server_free(v);
  }
  bh_server* v = nullptr;
  for (const char* wrong : {R"(,"attachments":1})", R"(,"attachments":true,"x":1})"}) {
    const std::string offer = tool + wrong;
    CHECK(bh_serve(host.session, offer.data(), offer.size(), asks, 7, &v, nullptr) ==
          BH_INVALID_ARGUMENT);
  }
  const std::string offer = tool + R"(,"attachments":true})";
  REQUIRE(bh_serve(host.session, offer.data(), offer.size(), asks, 7, &v, nullptr) == BH_OK);
  REQUIRE(bh_start(host.session, r, host.queue, 901, nullptr, nullptr) == BH_OK);
  bh_event* e = nullptr;
  REQUIRE(bh_queue_next(asks, 20'000, &e, nullptr) == BH_OK);
  REQUIRE(bh_event_kind(e) == BH_EVENT_ATTACHMENT);
  CHECK(bh_event_tag(e) == 7);
  const uint64_t id = bh_event_id(e);
  size_t n = 0;
  const char* bytes = static_cast<const char*>(bh_event_data(e, &n));
  CHECK(std::string(bytes, n) == "one");
  CHECK(std::string(bh_event_name(e, nullptr)) == "a");
  CHECK(std::string(bh_event_type(e, nullptr)) == "text/plain");
  bh_event_free(e);
  REQUIRE(bh_queue_next(asks, 20'000, &e, nullptr) == BH_OK);
  bh_ask* ask = bh_event_ask(e);
  bh_event_free(e);
  REQUIRE(ask != nullptr);
  CHECK(bh_ask_id(ask) == id);
  bh_fault* f = nullptr;
  size_t taken = 0;
  CHECK(bh_ask_emit(ask, BH_STREAM_ATTACHED, "x", 1, &taken, &f) == BH_INVALID_ARGUMENT);
  bh_fault_free(f);
  REQUIRE(bh_ask_result(ask, R"({"content":[]})", 14, nullptr) == BH_OK);
  bh_ask_free(ask);
  CHECK(host.finish(901).last == BH_EVENT_RESULT);
  bh_request_free(r);
  bh_server_free(v);
  bh_queue_free(asks);
}
