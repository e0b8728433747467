#include <bulkhead/sdk/json.hpp>

#include <sstream>
#include <vector>

#include "owner.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Owner;
using bh_test::runs;
using bh_test::soon;
namespace json = bulkhead::sdk::json;

namespace {

// Neither /tmp nor /var/tmp, which sandboxes have of their own.
struct Here {
  Here() {
    const std::string scratch = std::string(BH_BINARY_DIR) + "/tests/scratch";
    std::filesystem::create_directories(scratch);
    std::string name = scratch + "/jobs-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~Here() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

std::string config(const std::string& place) {
  return R"({"version":1,"data_root":")" + place + R"(/data","plugins":{"path":[")" BH_BINARY_DIR
         R"(/plugins"],"environment":false,"user":false,"relative":false,"system":false},)"
         R"("isolation":{"backend":"bwrap"}})";
}

boost::json::object object(const std::string& text) {
  auto o = json::parse_object(text);
  return o ? std::move(*o) : boost::json::object{{"not_json", text}};
}
std::string member(const Answer& answer, const char* key) {
  return std::string(json::text(object(answer.result), key));
}
std::int64_t number(const boost::json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_int64() ? v->get_int64() : -1;
}
std::int64_t exit_code(const Answer& answer, const char* key = "code") {
  const auto result = object(answer.result);
  const auto* exit = result.if_contains("exit");
  return exit != nullptr && exit->is_object() ? number(exit->get_object(), key) : -2;
}
std::string sh(const std::string& script) {
  return R"({"argv":["/bin/sh","-c",)" + json::print(boost::json::value(script)) + "]}";
}
std::string of(const std::string& job, const std::string& more = {}) {
  return R"({"job":")" + job + "\"" + more + "}";
}
Answer follow(Embedder& host, const std::string& job) {
  return host.call("job.attach", of(job, R"(,"follow":true)"));
}
std::string state(Embedder& host, const std::string& job) {
  return member(host.call("job.get", of(job)), "state");
}

// Why no sandbox starts here; empty: one does.
const std::string& no_bwrap() {
  static const std::string why = [] {
    Here here;
    Embedder host(config(here.path));
    return host.call("sandbox.exec", R"({"argv":["/bin/true"]})").fault.message;
  }();
  return why;
}

#define BH_NEEDS_BWRAP                                        \
  do {                                                        \
    if (!no_bwrap().empty()) BH_SKIP("bwrap: " + no_bwrap()); \
  } while (false)

}  // namespace

TEST_CASE("the second host", "[.owner]") {
  const std::string place = ::getenv("BH_OWNER_PLACE");
  Embedder host(config(place));
  const Answer answer = host.call("job.start", sh(::getenv("BH_OWNER_SCRIPT")));
  {
    std::ofstream file(place + "/started.new");
    file << member(answer, "job") << " " << member(answer, "sandbox") << "\n";
  }
  std::filesystem::rename(place + "/started.new", place + "/started");
  CHECK(soon([&] { return std::filesystem::exists(place + "/close"); }));
}

TEST_CASE("a job of one process is followed from another, to its end") {
  BH_NEEDS_BWRAP;
  Here here;
  Owner owner(here.path, "echo first; sleep 1; echo second >&2; sleep 0.3; exit 7");
  REQUIRE_FALSE(owner.job().empty());
  Embedder host(config(here.path));
  const Answer all = follow(host, owner.job());
  INFO(all.fault.message);
  CHECK(all.out == "first\n");
  CHECK(all.err == "second\n");
  CHECK(exit_code(all) == 7);
  CHECK(state(host, owner.job()) == "ended");
  CHECK(host.call("job.attach", of(owner.job(), R"(,"cursor":3)")).out == "st\n");
}

TEST_CASE("interrupt, from another process: a command that takes no notice of SIGTERM is killed") {
  BH_NEEDS_BWRAP;
  Here here;
  Owner owner(here.path, "trap '' TERM; echo up; while :; do sleep 0.1; done");
  REQUIRE_FALSE(owner.job().empty());
  Embedder host(config(here.path));
  REQUIRE(soon([&] { return host.call("job.attach", of(owner.job())).out == "up\n"; }));
  const Answer ended = host.call("sandbox.interrupt", R"({"sandbox":")" + owner.sandbox() + R"(","exec":")" +
                                                          owner.job() + R"(","grace_ms":300})");
  INFO(ended.fault.message);
  CHECK(ended.last == BH_EVENT_RESULT);
  const Answer all = follow(host, owner.job());
  CHECK(all.last == BH_EVENT_RESULT);
  CHECK(exit_code(all, "signal") == 9);
  CHECK(state(host, owner.job()) == "ended");
}

TEST_CASE("the owner closes: its jobs end, and the record says why") {
  BH_NEEDS_BWRAP;
  Here here;
  Owner owner(here.path, "echo up; exec sleep 98761.5");
  REQUIRE_FALSE(owner.job().empty());
  Embedder host(config(here.path));
  REQUIRE(soon([] { return runs("98761.5"); }));
  owner.close();
  const Answer got = host.call("job.get", of(owner.job()));
  CHECK(member(got, "state") == "ended");
  CHECK(member(got, "reason") == "stopped");
  CHECK(member(got, "message").find("was closed") != std::string::npos);
  CHECK(soon([] { return !runs("98761.5"); }));
}

TEST_CASE("the owner is killed: who follows hears it at once, the job is lost, nothing is left running") {
  BH_NEEDS_BWRAP;
  Here here;
  Owner owner(here.path, "echo up; (setsid sleep 98762.5 &) ; exec sleep 98762.5");
  REQUIRE_FALSE(owner.job().empty());
  Embedder host(config(here.path));
  bh_request* request = Embedder::request("job.attach", of(owner.job(), R"(,"follow":true)"));
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, request, host.queue, 9, &run, nullptr) == BH_OK);
  REQUIRE(soon([] { return runs("98762.5"); }));
  // What the owner has not read from the command's pipe yet goes with it.
  Embedder looker(config(here.path));
  REQUIRE(soon([&] {
    return number(object(looker.call("job.get", of(owner.job())).result), "bytes") == 3;
  }));
  owner.kill();
  const Answer all = host.finish(9);
  bh_run_free(run);
  bh_request_free(request);
  INFO(all.fault.message);
  REQUIRE(all.last == BH_EVENT_RESULT);
  CHECK(all.out == "up\n");
  const Answer got = host.call("job.get", of(owner.job()));
  CHECK(member(got, "state") == "lost");
  CHECK(member(got, "reason") == "owner_ended");
  CHECK_FALSE(object(got.result).contains("exit"));
  CHECK(soon([] { return !runs("98762.5"); }));
  // Its sandbox can be used again, and the job be forgotten.
  CHECK(host.call("sandbox.exec", R"({"argv":["/bin/true"]})").last == BH_EVENT_RESULT);
  CHECK(host.call("job.forget", of(owner.job())).last == BH_EVENT_RESULT);
}

TEST_CASE("a program that is not there; the job's own time limit") {
  BH_NEEDS_BWRAP;
  Here here;
  Embedder host(config(here.path));
  Answer answer = host.call("job.start", R"({"argv":["/bin/sleep","1000"],"timeout_ms":300})");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  const Answer all = follow(host, member(answer, "job"));
  const auto result = object(all.result);
  REQUIRE(result.if_contains("exit") != nullptr);
  CHECK(json::text(result.at("exit").get_object(), "reason") == "time");
  // As the shell tells it: the backend has run nothing, and says so in its stead.
  answer = host.call("job.start", R"({"argv":["/no/such/program"]})");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  const Answer told = follow(host, member(answer, "job"));
  CHECK(exit_code(told) == 127);
  CHECK(told.err.find("/no/such/program") != std::string::npos);
  // A folder that is not there is an error of the start, or of the record where it came too late.
  answer = host.call("job.start", R"({"argv":["/bin/true"],"cwd":"/no/such/folder"})");
  if (answer.last == BH_EVENT_RESULT) {
    const std::string job = member(answer, "job");
    (void)follow(host, job);
    const Answer got = host.call("job.get", of(job));
    INFO(got.result);
    CHECK(member(got, "reason") == "failed");
    CHECK(member(got, "message").find("working folder") != std::string::npos);
  } else {
    CHECK(answer.fault.has("cwd"));
    CHECK(number(object(host.call("job.list", "{}").result), "count") == 2);
  }
}

TEST_CASE("64 jobs at once, each with its own output and exit") {
  BH_NEEDS_BWRAP;
  Here here;
  Embedder host(config(here.path));
  std::vector<std::string> jobs;
  for (int i = 0; i < 64; i++) {
    const Answer answer = host.call(
        "job.start", sh("while [ ! -e go ]; do sleep 0.2; done; echo " + std::to_string(i) + "; exit " +
                        std::to_string(i)));
    INFO(answer.fault.message);
    REQUIRE(answer.last == BH_EVENT_RESULT);
    jobs.push_back(member(answer, "job"));
  }
  int running = 0;
  std::string others;
  for (const auto& item : host.call("job.list", "{}").items) {
    const bool runs = json::text(object(item), "state") == "running";
    running += runs ? 1 : 0;
    if (!runs) others += std::string(item) + "\n";
  }
  INFO(others);
  CHECK(running == 64);
  REQUIRE(host.call("sandbox.exec", sh("touch go")).last == BH_EVENT_RESULT);
  for (int i = 0; i < 64; i++) {
    const Answer all = follow(host, jobs[static_cast<std::size_t>(i)]);
    CHECK(all.out == std::to_string(i) + "\n");
    CHECK(exit_code(all) == i);
  }
}

TEST_CASE("1 GiB of output costs the host no memory, and no more than its window of the disk") {
  BH_NEEDS_BWRAP;
  Here here;
  Embedder host(config(here.path));
  (void)host.call("sandbox.exec", R"({"argv":["/bin/true"]})");
  const long before = bh_test::status_kib("VmRSS");
  const Answer answer = host.call("job.start", R"({"argv":["head","-c","1073741824","/dev/zero"]})");
  REQUIRE(answer.last == BH_EVENT_RESULT);
  const std::string job = member(answer, "job");
  long most = before;
  std::uintmax_t disk = 0;
  for (int i = 0; i < 3000 && state(host, job) == "running"; i++) {
    most = std::max(most, bh_test::status_kib("VmRSS"));
    std::uintmax_t now = 0;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(here.path + "/data/jobs/" + job, gone)) {
      const auto size = entry.file_size(gone);
      if (!gone) now += size;
    }
    disk = std::max(disk, now);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto got = object(host.call("job.get", of(job)).result);
  CHECK(json::text(got, "state") == "ended");
  CHECK(number(got, "bytes") == 1073741824);
  CHECK(number(got, "bytes") - number(got, "kept_from") <= (64 << 20));
  CHECK(most - before < 32 * 1024);
  CHECK(disk <= (64 << 20) + 4096);
  WARN("RSS grew by " << (most - before) << " KiB, the disk held " << disk << " bytes");
}
