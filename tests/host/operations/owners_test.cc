// Two processes on one DATA_ROOT: who may run commands in a sandbox.
#include <unistd.h>

#include "boxes.h"
#include "second_host.h"
#include "support/catch.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

constexpr const char kShort[] = R"(,"sandbox":{"lease_wait_ms":50})";

std::string started(const std::string& line, const char* key) {
  if (line.rfind("started ", 0) != 0) return "not started: " + line;
  auto item = json::parse_object(line.substr(8)).value();
  return std::string(json::get_string(item["started"].as_object(), key));
}

}  // namespace

TEST_CASE("a sandbox in use by a living process is refused, naming it; files, get, signals, kill are not") {
  Place place;
  const std::string config = boxes_at(place.path + "/d", kShort);
  Embedder host(config);
  const std::string id = member_of(host.call("sandbox.create", "{}").result, "sandbox");
  SecondHost other(config);
  REQUIRE(other.ready);
  const std::string exec = started(other.ask("start sandbox.exec " + named(id, R"(,"argv":["wait"])")), "exec");
  Answer refused = host.call("sandbox.exec", named(id, R"(,"argv":["say"])"));
  CHECK(refused.fault.code == BH_FAILED_PRECONDITION);
  CHECK(refused.fault.has("sandbox_owned"));
  CHECK(refused.fault.has("\"" + std::to_string(other.pid()) + "\""));
  CHECK(refused.fault.message.find(std::to_string(other.pid()) + " (second_host)") != std::string::npos);
  Answer got = host.call("sandbox.get", named(id));
  CHECK(got.result.find(R"("owner":{"pid":)" + std::to_string(other.pid()) + R"(,"here":false})") !=
        std::string::npos);
  CHECK(host.call("sandbox.renew", named(id, R"(,"timeout_ms":60000)")).last == BH_EVENT_RESULT);
  CHECK(host.call("sandbox.signal", named(id, R"(,"signal":10)")).last == BH_EVENT_RESULT);
  CHECK(host.call("sandbox.kill", named(id)).last == BH_EVENT_RESULT);
  CHECK(other.ask("call sandbox.get " + named(id)).rfind("fault 5", 0) == 0);
}

TEST_CASE("a lease that ends while another waits goes to it; its wait ends with its call") {
  Place place;
  const std::string config = boxes_at(place.path + "/d", R"(,"sandbox":{"lease_wait_ms":20000})");
  Embedder host(config);
  const std::string id = member_of(host.call("sandbox.create", "{}").result, "sandbox");
  SecondHost other(config);
  (void)other.ask("start sandbox.exec " + named(id, R"(,"argv":["wait"])"));
  // The other's only command ends with its process; the waiting call takes over.
  bh_request* request = Embedder::request("sandbox.exec", named(id, R"(,"argv":["say","one"])"));
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, request, host.queue, 77, &run, nullptr) == BH_OK);
  ::usleep(50'000);
  other.kill();
  Answer answer = host.finish(77);
  CHECK(answer.out == "one");
  bh_run_free(run);
  bh_request_free(request);
}

TEST_CASE("what a dead owner left is taken over, once what it ran was ended") {
  Place place;
  const std::string config = boxes_at(place.path + "/d", kShort);
  std::string id;
  {
    SecondHost other(config);
    const std::string made = other.ask("call sandbox.create {}");
    REQUIRE(made.rfind("result ", 0) == 0);
    id = member_of(made.substr(7), "sandbox");
    (void)other.ask("start sandbox.exec " + named(id, R"(,"argv":["wait"])"));
    other.kill();
  }
  Embedder host(config);
  Answer ran = host.call("sandbox.exec", named(id, R"(,"argv":["say","here"])"));
  INFO(ran.fault.message);
  CHECK(ran.out == "here");
  CHECK(boxes_log(place.path + "/d").find("signal " + id + " [] 9") != std::string::npos);
  CHECK(host.call("sandbox.get", named(id)).result.find(R"("owner":null)") != std::string::npos);
}

TEST_CASE("default sandboxes make nobody wait: another process gets one of its own, and they are found again") {
  Place place;
  const std::string config = boxes_at(place.path + "/d");
  Embedder host(config);
  SecondHost other(config);
  const std::string theirs =
      started(other.ask(R"(start sandbox.exec {"argv":["wait"]})"), "sandbox");
  const std::string ours =
      member_of(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
  CHECK(ours != theirs);
  CHECK(member_of(host.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox") == ours);
  CHECK(host.call("sandbox.list", "{}").items.size() == 2);
  other.kill();
  Embedder third(config);
  const std::string next =
      member_of(third.call("sandbox.exec", R"({"argv":["say"]})").result, "sandbox");
  CHECK((next == ours || next == theirs));
}

TEST_CASE("expiry is applied by whichever process comes next, and by the one that is there") {
  Place place;
  const std::string config = boxes_at(place.path + "/d");
  std::string id;
  {
    SecondHost other(config);
    const std::string made = other.ask(R"(call sandbox.create {"timeout_ms":300})");
    id = member_of(made.substr(7), "sandbox");
    REQUIRE(id.size() > 2);
    other.kill();
  }
  ::usleep(350'000);
  {
    Embedder host(config);
    CHECK(host.call("sandbox.exec", named(id, R"(,"argv":["say"])")).fault.has("sandbox_not_found"));
    CHECK(host.call("sandbox.list", "{}").items.empty());
  }  // a host that lives no longer than that sweeps too
  CHECK_FALSE(std::filesystem::exists(place.path + "/d/backends/boxes/" + id + ".box"));
  CHECK_FALSE(std::filesystem::exists(place.path + "/d/sandboxes/" + id));

  Embedder host(config);
  id = member_of(host.call("sandbox.create", R"({"timeout_ms":200})").result, "sandbox");
  const std::string box = place.path + "/d/backends/boxes/" + id + ".box";
  CHECK(std::filesystem::exists(box));
  for (int i = 0; i < 500 && std::filesystem::exists(box); i++) ::usleep(10'000);
  CHECK_FALSE(std::filesystem::exists(box));
}
