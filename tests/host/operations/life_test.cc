// sandbox.create's further arguments, and what is done to a sandbox as a whole.
#include <unistd.h>

#include "boxes.h"
#include "support/catch.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

json::object result_of(const Answer& answer) {
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  return json::parse_object(answer.result).value();
}

}  // namespace

TEST_CASE("sandbox.create: image, time, metadata, and what get and list tell of it") {
  Place place;
  Embedder host(boxes_at(place.path + "/d"));
  auto made = result_of(host.call(
      "sandbox.create",
      R"({"image":"opensandbox/code-interpreter:latest","timeout_ms":60000,"metadata":{"a":"1","b":"2"}})"));
  const std::string id(json::get_string(made, "sandbox"));
  CHECK(json::get_string(made, "image") == "opensandbox/code-interpreter:latest");
  CHECK(json::get_int(made, "expires_ms") >= json::get_int(made, "created_ms") + 60000);
  CHECK(json::print(made["enforcement"]).find(R"({"rule":"image","status":"partial","reason":"the host's own system)") !=
        std::string::npos);
  for (const char* operation : {"sandbox.get", "sandbox.connect"}) {
    auto got = result_of(host.call(operation, named(id)));
    CHECK(json::get_string(got, "state") == "running");
    CHECK(json::print(got["metadata"]) == R"({"a":"1","b":"2"})");
    CHECK(got["expires_ms"] == made["expires_ms"]);
    CHECK(got["image"] == made["image"]);
    CHECK(got["default"] == false);
    CHECK_FALSE(got.contains("persona"));
    CHECK(json::print(got["enforcement"]) == json::print(made["enforcement"]));
  }
  (void)host.call("sandbox.create", R"({"metadata":{"a":"1"}})");
  const std::pair<const char*, std::size_t> kFound[] = {
      {"{}", 2},
      {R"({"metadata":{"a":"1"}})", 2},
      {R"({"metadata":{"a":"1","b":"2"}})", 1},
      {R"({"metadata":{"a":"2"}})", 0},
      {R"({"states":["paused","running"]})", 2},
      {R"({"states":["failed"]})", 0}};
  for (const auto& [args, count] : kFound) {
    INFO(args);
    CHECK(host.call("sandbox.list", args).items.size() == count);
  }
}

TEST_CASE("sandbox.create refuses what it cannot do, and leaves nothing") {
  Place place;
  Embedder host(boxes_at(place.path + "/d"));
  struct Row {
    const char* args;
    bh_status code;
    const char* word;
  };
  const Row rows[] = {
      {R"({"image":"debian:12"})", BH_NOT_FOUND, "image_unknown"},
      {R"({"image":"host","profile":{"root":{"view":"host"}}})", BH_INVALID_ARGUMENT, "contradiction"},
      {R"({"env":{"A":"b"}})", BH_UNIMPLEMENTED, "exec_option_unsupported"},
      {R"({"env":{"A=":"b"}})", BH_INVALID_ARGUMENT, "variable"},
      {R"({"env":{"A":"b\u0000"}})", BH_INVALID_ARGUMENT, "variable"},
      {R"({"timeout_ms":0})", BH_INVALID_ARGUMENT, "timeout_ms"},
      {R"({"metadata":{"a":1}})", BH_INVALID_ARGUMENT, "metadata"},
  };
  for (const Row& row : rows) {
    INFO(row.args);
    Answer answer = host.call("sandbox.create", row.args);
    CHECK(answer.fault.code == row.code);
    CHECK(answer.fault.has(row.word));
    CHECK(host.call("sandbox.list", "{}").items.empty());
    std::error_code none;
    CHECK(std::filesystem::directory_iterator(place.path + "/d/sandboxes", none) ==
          std::filesystem::directory_iterator());
  }
  Answer unknown = host.call("sandbox.create", R"({"image":"debian:12"})");
  CHECK(unknown.fault.message.find("host, opensandbox/code-interpreter:latest") != std::string::npos);
  Embedder own(boxes_at(place.path + "/e", R"(,"images":{"mine":{"root":"host"}})"));
  CHECK(own.call("sandbox.create", R"({"image":"mine"})").last == BH_EVENT_RESULT);
  CHECK(own.call("sandbox.create", R"({"image":"host"})").fault.has("image_unknown"));
  Embedder bad(boxes_at(place.path + "/f", R"(,"images":{"mine":{"root":"moon"}})"));
  CHECK(bad.session == nullptr);
  CHECK(bad.fault.message.find("images") != std::string::npos);
}

TEST_CASE("what a caller asks for has an end: sandboxes, environment, profile, words in errors") {
  Place place;
  Embedder host(boxes_at(place.path + "/d", R"(,"sandbox":{"most":2})"));
  const std::string large(1u << 20, 'x');
  Answer answer = host.call("sandbox.create", R"({"backend":"process","env":{"A":")" + large + R"("}})");
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has(R"("reason":"too_large","field":"/env")"));
  answer = host.call("sandbox.create",
                     R"({"profile":{"files":[{"path":"/)" + large + R"(","access":"hide"}]}})");
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has(R"("reason":"too_large","field":"/profile")"));
  answer = host.call("sandbox.get", named(large));
  CHECK(answer.fault.code == BH_NOT_FOUND);
  CHECK(answer.fault.message.size() + answer.fault.details.size() < 16384);
  CHECK(answer.fault.has("sandbox.list names yours"));
  CHECK(host.call("sandbox.list", "{}").items.empty());

  // Of one persona, and its default ones count.
  const std::string first = member_of(host.call("sandbox.create", "{}").result, "sandbox");
  CHECK(host.call("sandbox.exec", R"({"argv":["true"]})").last == BH_EVENT_RESULT);
  std::filesystem::create_directory(place.path + "/w");
  for (const auto& [operation, args] :
       {std::pair<const char*, std::string>("sandbox.create", "{}"),
        {"sandbox.exec", R"({"argv":["true"],"workspace":")" + place.path + R"(/w"})"}}) {
    INFO(operation);
    answer = host.call(operation, args);
    CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
    CHECK(answer.fault.has("sandbox_limit"));
  }
  CHECK(host.call("sandbox.exec", R"({"argv":["true"]})").last == BH_EVENT_RESULT);
  bh_session* other = host.open_session(R"({"persona":"other"})");
  std::swap(other, host.session);
  CHECK(host.call("sandbox.create", "{}").last == BH_EVENT_RESULT);
  CHECK(host.call("sandbox.list", "{}").items.size() == 1);
  std::swap(other, host.session);
  bh_session_free(other);
  CHECK(host.call("sandbox.kill", named(first)).last == BH_EVENT_RESULT);
  CHECK(host.call("sandbox.create", "{}").last == BH_EVENT_RESULT);
}

TEST_CASE("a sandbox's environment lies below that of each command, also for the next host") {
  Place place;
  std::string id;
  {
    Embedder host(boxes_at(place.path + "/d"));
    id = member_of(host.call("sandbox.create", R"({"backend":"process","env":{"A":"1","B":"2"}})").result, "sandbox");
    CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["options"])")).out == R"({"env":{"A":"1","B":"2"}})");
  }
  Embedder host(boxes_at(place.path + "/d"));
  CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["options"],"env":{"B":"3","C":"4"})")).out ==
        R"({"env":{"A":"1","B":"3","C":"4"}})");
}

TEST_CASE("renew moves the end of a sandbox, from now on") {
  Place place;
  Embedder host(boxes_at(place.path + "/d"));
  const std::string id = member_of(host.call("sandbox.create", R"({"timeout_ms":150})").result, "sandbox");
  auto renewed = result_of(host.call("sandbox.renew", named(id, R"(,"timeout_ms":600000)")));
  ::usleep(300'000);
  auto got = result_of(host.call("sandbox.get", named(id)));
  CHECK(got["expires_ms"] == renewed["expires_ms"]);
  CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["say"])")).last == BH_EVENT_RESULT);
}

TEST_CASE("pause and resume, where the backend can; a paused one runs no command") {
  Place place;
  Embedder host(boxes_at(place.path + "/d"));
  const std::string id = member_of(host.call("sandbox.create", "{}").result, "sandbox");
  for (int twice = 0; twice < 2; twice++) {
    CHECK(member_of(host.call("sandbox.pause", named(id)).result, "state") == "paused");
  }
  CHECK(member_of(host.call("sandbox.get", named(id)).result, "state") == "paused");
  Answer refused = host.call("sandbox.exec", named(id, R"(,"argv":["say"])"));
  CHECK(refused.fault.code == BH_FAILED_PRECONDITION);
  CHECK(refused.fault.has("sandbox_state"));
  CHECK(refused.fault.message.find("sandbox.resume") != std::string::npos);
  CHECK(host.call("sandbox.health", named(id)).result.find("it is paused") != std::string::npos);
  CHECK(member_of(host.call("sandbox.resume", named(id)).result, "state") == "running");
  CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["say"])")).last == BH_EVENT_RESULT);
  CHECK(boxes_log(place.path + "/d").find("pause " + id) != std::string::npos);
  CHECK(boxes_log(place.path + "/d").find("resume " + id) != std::string::npos);
}

TEST_CASE("health, metrics, connect: what the backend says of it, and that it lost it") {
  Place place;
  std::string id;
  {
    Embedder host(boxes_at(place.path + "/d"));
    id = member_of(host.call("sandbox.create", "{}").result, "sandbox");
    CHECK(host.call("sandbox.health", named(id)).result.find(R"("healthy":true,"reason":null)") != std::string::npos);
    auto metrics = result_of(host.call("sandbox.metrics", named(id)));
    CHECK(json::get_int(metrics, "memory_bytes") == 5);
    CHECK(json::get_int(metrics, "processes") == 2);
    CHECK(json::get_int(metrics, "memory_limit_bytes") > 0);
    CHECK(json::get_int(metrics, "cpu_count") >= 1);
    CHECK(metrics["cpu_percent"].is_null());
    Answer endpoint = host.call("sandbox.endpoint", named(id, R"(,"port":80)"));
    CHECK(endpoint.fault.code == BH_UNIMPLEMENTED);
    CHECK(endpoint.fault.has("ports_unsupported"));
    CHECK(endpoint.fault.message.find("network is off") != std::string::npos);
  }
  std::filesystem::remove(place.path + "/d/backends/boxes/" + id + ".box");
  Embedder host(boxes_at(place.path + "/d"));
  auto lost = result_of(host.call("sandbox.connect", named(id)));
  CHECK(json::get_string(lost, "state") == "failed");
  CHECK(json::get_string(lost, "reason") == "lost");
  CHECK(host.call("sandbox.health", named(id)).result.find(R"("healthy":false)") != std::string::npos);
  CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["say"])")).fault.has("sandbox_state"));
  CHECK(host.call("sandbox.kill", named(id)).last == BH_EVENT_RESULT);
}

TEST_CASE("interrupt asks first, kills after a while, and says when there is nothing to end") {
  Place place;
  Embedder host(boxes_at(place.path + "/d"));
  const std::string id = member_of(host.call("sandbox.create", "{}").result, "sandbox");
  for (const char* how : {R"("wait")", R"("wait","stubborn")"}) {
    INFO(how);
    bh_request* request =
        Embedder::request("sandbox.exec", named(id, std::string(R"(,"argv":[)") + how + "]"));
    bh_queue* queue = nullptr;
    REQUIRE(bh_queue_new(host.runtime, &queue, nullptr) == BH_OK);
    bh_run* run = nullptr;
    REQUIRE(bh_start(host.session, request, queue, 5, &run, nullptr) == BH_OK);
    bh_event* event = nullptr;
    Answer ran;
    REQUIRE(bh_queue_next(queue, 30'000, &event, nullptr) == BH_OK);
    Embedder::note(event, ran);
    bh_event_free(event);
    REQUIRE(ran.items.size() == 1);
    auto item = json::parse_object(ran.items[0]).value();
    const std::string exec(json::get_string(item["started"].as_object(), "exec"));
    ::usleep(20'000);  // announced, and now running
    Answer ended = host.call("sandbox.interrupt", named(id, R"(,"grace_ms":60,"exec":")" + exec + "\""));
    CHECK(ended.result == R"({"exec":")" + exec + R"(","ended":true})");
    while (ran.last == 0 && bh_queue_next(queue, 30'000, &event, nullptr) == BH_OK && event != nullptr) {
      Embedder::note(event, ran);
      bh_event_free(event);
    }
    const bool stubborn = std::string(how).find("stubborn") != std::string::npos;
    CHECK(ran.result.find(stubborn ? R"("signal":9)" : R"("signal":15)") != std::string::npos);
    Answer again = host.call("sandbox.interrupt", named(id, R"(,"exec":")" + exec + "\""));
    CHECK(again.fault.code == BH_NOT_FOUND);
    CHECK(again.fault.has("exec_ended"));
    bh_run_free(run);
    bh_queue_free(queue);
    bh_request_free(request);
  }
}
