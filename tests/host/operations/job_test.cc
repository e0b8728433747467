#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

#include "base/json.h"
#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Place;
namespace json = bh::json;

namespace {

std::string config(const Place& place, const char* backend = "runners") {
  return bh_test::config_at(place.path + "/d",
                            std::string(R"(,"isolation":{"backend":")") + backend + "\"}");
}

json::object object(const std::string& text) {
  auto o = json::parse_object(text);
  return o ? *o : json::object{{"not_json", text}};
}
std::string member(const Answer& answer, const char* key) {
  return std::string(json::get_string(object(answer.result), key));
}
std::int64_t number(const Answer& answer, const char* key) {
  return json::get_int(object(answer.result), key, -1);
}

std::string start(Embedder& host, const std::string& argv, const std::string& more = {},
                  bh_session* by = nullptr) {
  Answer answer = host.call("job.start", R"({"argv":)" + argv + more + "}", by);
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(member(answer, "state") == "running");
  return member(answer, "job");
}
std::string of(const std::string& job, const std::string& more = {}) {
  return R"({"job":")" + job + "\"" + more + "}";
}
Answer follow(Embedder& host, const std::string& job, const std::string& more = {}) {
  return host.call("job.attach", of(job, R"(,"follow":true)" + more));
}
bool soon(const std::function<bool()>& so) {
  for (int i = 0; i < 2000; i++) {
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}
bool in_end(Embedder& host, const std::string& job) {
  return soon([&] { return member(host.call("job.get", of(job)), "state") != "running"; });
}

}  // namespace

TEST_CASE("a job that is larger than any command is not even recorded") {
  Place place;
  Embedder host(config(place));
  Answer answer =
      host.call("job.start", R"({"argv":["true",")" + std::string(3u << 20, 'x') + R"("]})");
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has(R"("reason":"too_large","field":"/argv")"));
  CHECK(host.call("job.list", "{}").items.empty());
}

TEST_CASE("a job outlives the call that started it") {
  Place place;
  Embedder host(config(place));
  bh_request* request = Embedder::request("job.start", R"({"argv":["later","done"]})");
  (void)bh_request_timeout(request, 10'000, nullptr);
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, request, host.queue, 77, &run, nullptr) == BH_OK);
  Answer answer = host.finish(77);
  bh_run_free(run);
  bh_request_free(request);
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  const std::string job = member(answer, "job");

  Answer now = host.call("job.get", of(job));
  CHECK(member(now, "state") == "running");
  CHECK(object(now.result)["owner"].is_object());
  CHECK_FALSE(object(now.result).contains("exit"));
  Answer all = follow(host, job);
  REQUIRE(all.last == BH_EVENT_RESULT);
  CHECK(all.out == "done");
  CHECK(number(all, "next") == 4);
  CHECK_FALSE(json::get_bool(object(all.result), "running", true));
  now = host.call("job.get", of(job));
  CHECK(member(now, "state") == "ended");
  CHECK(json::print(object(now.result)["exit"]) == R"({"reason":"code","code":0,"signal":null})");
  CHECK(object(now.result)["reason"].is_null());
  CHECK(object(now.result)["owner"].is_null());
  CHECK(json::print(object(now.result)["argv"]) == R"(["later","done"])");
  CHECK(number(now, "bytes") == 4);
}

TEST_CASE("attach: cursors, streams, max_bytes, and what is no cursor") {
  Place place;
  Embedder host(config(place));
  const std::string job = start(host, R"(["print","one","two","three"])");
  REQUIRE(in_end(host, job));
  Answer all = host.call("job.attach", of(job));
  CHECK(all.out == "onethree");
  CHECK(all.err == "two");
  CHECK(number(all, "next") == 11);
  CHECK(number(all, "skipped") == 0);
  CHECK(json::get_int(object(all.result)["exit"].get_object(), "code") == 3);
  all = host.call("job.attach", of(job, R"(,"cursor":4)"));
  CHECK(all.err == "wo");
  CHECK(all.out == "three");
  all = host.call("job.attach", of(job, R"(,"cursor":1,"max_bytes":4)"));
  CHECK(all.out == "ne");
  CHECK(all.err == "tw");
  CHECK(number(all, "next") == 5);
  all = host.call("job.attach", of(job, R"(,"cursor":12)"));
  CHECK(all.fault.code == BH_OUT_OF_RANGE);
  CHECK(all.fault.has("job_cursor"));
  CHECK(host.call("job.attach", of(job, R"(,"cursor":-1)")).fault.code == BH_INVALID_ARGUMENT);
  CHECK(host.call("job.attach", of(job, R"(,"max_bytes":0)")).fault.code == BH_INVALID_ARGUMENT);
  CHECK(host.call("job.attach", of(job, R"(,"tail":1)")).fault.code == BH_INVALID_ARGUMENT);
}

TEST_CASE("a follower that is cancelled leaves the job alone, and says where to go on") {
  Place place;
  Embedder host(config(place));
  const std::string job = start(host, R"(["ticks"])");
  bh_request* request = Embedder::request("job.attach", of(job, R"(,"follow":true)"));
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, request, host.queue, 99, &run, nullptr) == BH_OK);
  bh_event* e = nullptr;
  REQUIRE(bh_queue_next(host.queue, 20'000, &e, nullptr) == BH_OK);
  REQUIRE(e != nullptr);
  bh_event_free(e);
  bh_run_cancel(run);
  Answer answer = host.finish(99);
  bh_run_free(run);
  bh_request_free(request);
  CHECK(answer.fault.code == BH_CANCELLED);
  const json::object details = object(answer.fault.details);
  REQUIRE(json::get_object(details, "partial") != nullptr);
  CHECK(json::get_int(*json::get_object(details, "partial"), "next") > 0);
  CHECK(member(host.call("job.get", of(job)), "state") == "running");
}

TEST_CASE("what cannot be run is said by job.start, and leaves no job") {
  Place place;
  Embedder host(config(place));
  Answer answer = host.call("job.start", R"({"argv":["absent"]})");
  CHECK(answer.fault.code == BH_NOT_FOUND);
  CHECK(answer.fault.has("program_not_found"));
  CHECK(number(host.call("job.list", "{}"), "count") == 0);
  answer = host.call("job.start", R"({"argv":["hold"],"sandbox":"s-none"})");
  CHECK(answer.fault.has("sandbox_not_found"));
  answer = host.call("job.start", R"({"argv":["hold"],"tty":{}})");
  CHECK(answer.fault.code == BH_INVALID_ARGUMENT);
  CHECK(host.call("job.start", R"({"argv":[]})").fault.code == BH_INVALID_ARGUMENT);
  std::error_code none;
  CHECK(std::filesystem::is_empty(place.path + "/d/jobs", none));
}

TEST_CASE("signals and interrupts reach a job by its name") {
  Place place;
  Embedder host(config(place));
  const std::string sandbox = member(host.call("sandbox.create", "{}"), "sandbox");
  const std::string in = R"({"sandbox":")" + sandbox + R"(","exec":")";
  const std::string here = R"(,"sandbox":")" + sandbox + "\"";

  std::string job = start(host, R"(["hold"])", here);
  CHECK(host.call("sandbox.signal", in + job + R"(","signal":15})").last == BH_EVENT_RESULT);
  REQUIRE(in_end(host, job));
  Answer got = host.call("job.get", of(job));
  CHECK(member(got, "state") == "ended");
  CHECK(member(got, "reason") == "stopped");
  CHECK(json::get_int(object(got.result)["exit"].get_object(), "signal") == 15);

  job = start(host, R"(["stubborn"])", here);
  Answer ended = host.call("sandbox.interrupt", in + job + R"(","grace_ms":50})");
  INFO(ended.fault.message);
  CHECK(ended.last == BH_EVENT_RESULT);
  REQUIRE(in_end(host, job));
  got = host.call("job.get", of(job));
  CHECK(json::get_int(object(got.result)["exit"].get_object(), "signal") == 9);
  CHECK(host.call("sandbox.interrupt", in + job + "\"}").fault.has("exec_ended"));
}

TEST_CASE("the end of its sandbox ends a job; who waits hears of it, and the output stays") {
  Place place;
  Embedder host(config(place));
  const std::string sandbox = member(host.call("sandbox.create", "{}"), "sandbox");
  const std::string job = start(host, R"(["ticks"])", R"(,"sandbox":")" + sandbox + "\"");
  bh_request* request = Embedder::request("job.attach", of(job, R"(,"follow":true)"));
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, request, host.queue, 5, &run, nullptr) == BH_OK);
  Embedder other(config(place));
  REQUIRE(other.call("sandbox.kill", R"({"sandbox":")" + sandbox + "\"}").last == BH_EVENT_RESULT);
  Answer followed = host.finish(5);
  bh_run_free(run);
  bh_request_free(request);
  REQUIRE(followed.last == BH_EVENT_RESULT);
  CHECK(followed.out.substr(0, 2) == "0\n");
  CHECK(json::get_string(object(followed.result)["exit"].get_object(), "reason") == "stopped");
  Answer got = host.call("job.get", of(job));
  CHECK(member(got, "state") == "ended");
  CHECK(member(got, "reason") == "stopped");
  CHECK(host.call("job.attach", of(job)).out == followed.out);
  CHECK(number(host.call("job.list", R"({"sandbox":")" + sandbox + "\"}"), "count") == 1);
}

TEST_CASE("a job holds its sandbox, and nobody else's exec in the same process waits for it") {
  Place place;
  Embedder host(config(place));
  const std::string job = start(host, R"(["hold"])");
  const std::string sandbox = member(host.call("job.get", of(job)), "sandbox");
  Answer got = host.call("sandbox.get", R"({"sandbox":")" + sandbox + "\"}");
  CHECK(object(got.result)["owner"].is_object());
  CHECK(host.call("sandbox.exec", R"({"argv":["print","x"],"sandbox":")" + sandbox + "\"}").out == "x");
  CHECK(host.call("sandbox.signal", R"({"signal":9,"sandbox":")" + sandbox + R"(","exec":")" + job + "\"}")
            .last == BH_EVENT_RESULT);
  CHECK(soon([&] {
    return object(host.call("sandbox.get", R"({"sandbox":")" + sandbox + "\"}").result)["owner"].is_null();
  }));
}

TEST_CASE("closing the runtime stops its jobs, and their records say so") {
  Place place;
  std::string job;
  {
    Embedder host(config(place));
    job = start(host, R"(["ticks"])");
  }
  Embedder next(config(place));
  Answer got = next.call("job.get", of(job));
  CHECK(member(got, "state") == "ended");
  CHECK(member(got, "reason") == "stopped");
  CHECK(member(got, "message").find("was closed") != std::string::npos);
  CHECK(json::get_string(object(got.result)["exit"].get_object(), "reason") == "stopped");
  Answer all = follow(next, job);
  CHECK(all.last == BH_EVENT_RESULT);
  CHECK(number(all, "next") == number(got, "bytes"));
}

TEST_CASE("another persona's job is as if it were not there; the operator sees all") {
  Place place;
  Embedder host(config(place));
  bh_session* stranger = host.open_session(R"({"persona":"stranger"})");
  bh_session* boss = host.open_session(R"({"operator":true})");
  const std::string job = start(host, R"(["hold"])");
  const Answer absent = host.call("job.get", of("j-00000000000000000000"), stranger);
  CHECK(absent.fault.code == BH_NOT_FOUND);
  for (const char* operation : {"job.get", "job.attach", "job.forget"}) {
    INFO(operation);
    const Answer answer = host.call(operation, of(job), stranger);
    CHECK(answer.fault.code == BH_NOT_FOUND);
    CHECK(answer.fault.has("job_not_found"));
    std::string message = absent.fault.message;
    message.replace(message.find("j-0000"), 22, job);
    CHECK(answer.fault.message == message);
  }
  CHECK(number(host.call("job.list", "{}", stranger), "count") == 0);
  const Answer all = host.call("job.list", "{}", boss);
  REQUIRE(all.items.size() == 1);
  CHECK(json::get_string(object(all.items[0]), "persona") == "default");
  CHECK(host.call("job.get", of(job), boss).last == BH_EVENT_RESULT);
  bh_session_free(stranger);
  bh_session_free(boss);
}

TEST_CASE("forget: an ended job goes with its output, a running one stays") {
  Place place;
  Embedder host(config(place));
  const std::string ended = start(host, R"(["print","x"])");
  const std::string running = start(host, R"(["hold"])");
  REQUIRE(in_end(host, ended));
  Answer answer = host.call("job.forget", of(running));
  CHECK(answer.fault.code == BH_FAILED_PRECONDITION);
  CHECK(answer.fault.has("job_running"));
  CHECK(std::filesystem::exists(place.path + "/d/jobs/" + ended));
  CHECK(host.call("job.forget", of(ended)).last == BH_EVENT_RESULT);
  CHECK_FALSE(std::filesystem::exists(place.path + "/d/jobs/" + ended));
  CHECK(host.call("job.get", of(ended)).fault.has("job_not_found"));
  CHECK(number(host.call("job.list", "{}"), "count") == 1);
}

TEST_CASE("64 jobs of a persona run at once; the next is refused, another persona's is not") {
  Place place;
  Embedder host(config(place));
  std::vector<std::string> jobs;
  for (int i = 0; i < 64; i++) jobs.push_back(start(host, R"(["hold"])"));
  Answer more = host.call("job.start", R"({"argv":["hold"]})");
  CHECK(more.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(more.fault.has("too_many_jobs"));
  bh_session* other = host.open_session(R"({"persona":"other"})");
  start(host, R"(["hold"])", "", other);
  // Calls have their workers all the same.
  CHECK(host.call("sandbox.exec", R"({"argv":["print","x"]})").out == "x");
  const std::string sandbox = member(host.call("job.get", of(jobs[0])), "sandbox");
  REQUIRE(host.call("sandbox.signal", R"({"signal":9,"sandbox":")" + sandbox + "\"}").last ==
          BH_EVENT_RESULT);
  for (const std::string& job : jobs) REQUIRE(in_end(host, job));
  CHECK(soon([&] { return host.call("job.start", R"({"argv":["print"]})").last == BH_EVENT_RESULT; }));
  bh_session_free(other);
}

TEST_CASE("more output than is kept: the beginning is skipped, the end is there") {
  Place place;
  Embedder host(config(place));
  const std::string job = start(host, R"(["spill","1600"])");
  REQUIRE(in_end(host, job));
  const Answer got = host.call("job.get", of(job));
  CHECK(number(got, "bytes") == 1600 * 65536);
  const std::int64_t kept = number(got, "kept_from");
  CHECK(number(got, "bytes") - kept > (56 << 20));
  CHECK(number(got, "bytes") - kept <= (64 << 20));
  const Answer some = host.call("job.attach", of(job, R"(,"max_bytes":100000)"));
  CHECK(number(some, "skipped") == kept);
  CHECK(number(some, "next") == kept + 100000);
  CHECK(some.out.size() + some.err.size() == 100000);
}

TEST_CASE("a backend that keeps jobs itself is asked to; they end with their owner all the same") {
  Place place;
  const std::string text = config(place, "keepers");
  std::string ended, running, run;
  {
    Embedder host(text);
    CHECK(host.call("job.start", R"({"argv":["absent"]})").fault.has("program_not_found"));
    ended = start(host, R"(["any"])");
    running = start(host, R"(["any"])");
    run = start(host, R"(["print","x"])");
    CHECK(follow(host, run).out == "x");
    const std::string sandbox = member(host.call("job.get", of(ended)), "sandbox");
    REQUIRE(host.call("sandbox.signal", R"({"signal":15,"sandbox":")" + sandbox + R"(","exec":")" + ended + "\"}")
                .last == BH_EVENT_RESULT);
    Answer all = follow(host, ended);
    CHECK(all.out == "kept by the box");
    CHECK(number(all, "next") == 20);
    CHECK(number(all, "skipped") == 5);
    CHECK(json::get_int(object(all.result)["exit"].get_object(), "signal") == 15);
  }
  std::ifstream file(place.path + "/d/backends/keepers/log");
  const std::string log((std::istreambuf_iterator<char>(file)), {});
  // One that it would rather not keep is run as a command is.
  CHECK(log.find("start " + run) == std::string::npos);
  CHECK(log.find("forget " + ended) != std::string::npos);
  CHECK(log.find("attach 1") != std::string::npos);
  CHECK(log.find("signal 9") != std::string::npos);
  CHECK(log.find("forget " + running) != std::string::npos);
  Embedder next(text);
  CHECK(member(next.call("job.get", of(running)), "reason") == "stopped");
}
