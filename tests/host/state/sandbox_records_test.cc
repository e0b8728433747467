#include <atomic>
#include <thread>

#include "place.h"
#include "state/data_root.h"
#include "state/job_records.h"
#include "state/sandbox_records.h"
#include "support/catch.h"

using bh_test::Place;
using bh_test::sample;

namespace {

struct Records {
  Place place;
  bh::DataRoot root{bh::DataRoot::open(place.path + "/d").value()};
  bh::Database db{root};
  bh::SandboxRecords sandboxes{db};
  bh::JobRecords jobs{db};
};

bh::JobRecord job(const std::string& id, const std::string& sandbox) {
  bh::JobRecord r;
  r.id = id;
  r.sandbox = sandbox;
  r.persona = "p";
  r.argv = {"sh", bh::json::object{{"base64", "AA=="}}};
  r.options = {{"cwd", "/"}};
  r.state = "running";
  r.started_ms = 5;
  r.owner = bh::ProcessName::self();
  return r;
}

}  // namespace

TEST_CASE("ids of sandboxes") {
  for (const char* good : {"a", "0", "s-0123", "-"}) CHECK(bh::valid_sandbox_id(good));
  CHECK(bh::valid_sandbox_id(std::string(63, 'a')));
  CHECK_FALSE(bh::valid_sandbox_id(std::string(64, 'a')));
  for (const char* bad : {"", "A", "a b", "a/b", "..", ".", "a.json", "\xc3\xa4", "a_b"}) {
    CHECK_FALSE(bh::valid_sandbox_id(bad));
  }
  CHECK_FALSE(bh::valid_sandbox_id(std::string_view("a\0b", 3)));
}
TEST_CASE("a record comes back as it went, and goes") {
  Records r;
  auto put = sample("d-1", "key1");
  put.reason = "why";
  put.message = std::string("a sentence with 'quotes' and a NUL \0", 36);
  put.changed_ms = 4;
  put.used_ms = 5;
  put.expires_ms = 6;
  put.image = "host";
  put.env = {{"A", "b"}};
  put.metadata = {{"k", "v"}};
  put.owner = bh::ProcessName::self();
  put.busy = 2;
  put.inherited = true;
  put.actor = bh::ProcessName::parse("1 2 three");
  REQUIRE(r.sandboxes.put(put));
  REQUIRE(r.sandboxes.put(sample("s-2")));
  bh::Database again(r.root);  // as the next process reads it
  auto got = bh::SandboxRecords(again).get("d-1");
  REQUIRE(got);
  CHECK(got->persona == put.persona);
  CHECK(got->backend == put.backend);
  CHECK(got->default_key == put.default_key);
  CHECK(got->state == put.state);
  CHECK(got->reason == put.reason);
  CHECK(got->message == put.message);
  CHECK(got->created_ms == put.created_ms);
  CHECK(got->changed_ms == 4);
  CHECK(got->used_ms == 5);
  CHECK(got->expires_ms == put.expires_ms);
  CHECK(got->image == "host");
  CHECK(got->owner == put.owner);
  CHECK(got->busy == 2);
  CHECK(got->inherited);
  CHECK(got->actor == put.actor);
  for (auto part : {&bh::SandboxRecord::env, &bh::SandboxRecord::metadata,
                    &bh::SandboxRecord::profile, &bh::SandboxRecord::report}) {
    CHECK(bh::json::print((*got).*part) == bh::json::print(put.*part));
  }
  CHECK_FALSE(r.sandboxes.get("s-2")->expires_ms);
  CHECK(r.sandboxes.all()->size() == 2);
  CHECK(r.sandboxes.all("nobody")->empty());
  CHECK(*r.sandboxes.count("nobody") == 0);
  const std::string persona = r.sandboxes.all()->front().persona;
  CHECK(r.sandboxes.all(persona)->size() == static_cast<std::size_t>(*r.sandboxes.count(persona)));
  REQUIRE(r.sandboxes.remove("d-1"));
  CHECK(r.sandboxes.get("d-1").error().code == BH_NOT_FOUND);
  CHECK(r.sandboxes.remove("d-1"));  // again
  CHECK(r.sandboxes.all()->size() == 1);
}

TEST_CASE("an id that cannot be one is not found, as an absent one") {
  Records r;
  for (const char* bad : {"", "../x", "a/b", "A", "x' OR '1'='1"}) {
    for (const auto& error : {r.sandboxes.get(bad).error(), r.sandboxes.life(bad).error()}) {
      CHECK(error.code == BH_NOT_FOUND);
      CHECK(error.details.find("sandbox_not_found") != std::string::npos);
    }
  }
}

TEST_CASE("a change is whole: nobody is in between, and an error changes nothing") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("s-1")));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      bh::Database own(r.root);
      bh::SandboxRecords records(own);
      for (int i = 0; i < 50; i++) {
        auto done = records.change("s-1", [](bh::SandboxLife& life) -> bh::Result<void> {
          life.busy++;
          return {};
        });
        if (!done) failures++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(r.sandboxes.life("s-1")->busy == 200);
  auto refused = r.sandboxes.change("s-1", [](bh::SandboxLife& life) -> bh::Result<void> {
    life.busy = 0;
    return bh::fail(BH_ABORTED, "no", "x");
  });
  CHECK(refused.error().code == BH_ABORTED);
  CHECK(r.sandboxes.life("s-1")->busy == 200);
  CHECK(r.sandboxes.change("s-0", [](bh::SandboxLife&) -> bh::Result<void> { return {}; })
            .error().code == BH_NOT_FOUND);
}

TEST_CASE("the time of a change follows the state alone") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("s-1")));
  auto set = [&](const char* state) {
    return r.sandboxes.change("s-1", [&](bh::SandboxLife& life) -> bh::Result<void> {
      life.state = state;
      return {};
    });
  };
  CHECK(set("running")->changed_ms == 0);
  CHECK(set("paused")->changed_ms > 1'700'000'000'000);
}

TEST_CASE("what was being made is finished by its maker alone, while it is being made") {
  Records r;
  auto record = sample("s-1");
  record.state = "making";
  record.actor = bh::ProcessName::self();
  REQUIRE(r.sandboxes.put(record));
  auto done = record;
  done.state = "running";
  done.expires_ms = 9;
  auto stranger = done;
  stranger.actor = bh::ProcessName::parse("1 2 x");
  CHECK_FALSE(r.sandboxes.finish_making(stranger).value());
  CHECK(r.sandboxes.life("s-1")->state == "making");
  CHECK(r.sandboxes.finish_making(done).value());
  CHECK(r.sandboxes.life("s-1")->state == "running");
  CHECK(r.sandboxes.life("s-1")->actor.nobody());
  CHECK_FALSE(r.sandboxes.finish_making(done).value());
}

TEST_CASE("one of the defaults of a key is picked and changed at once") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("d-1", "key")));
  REQUIRE(r.sandboxes.put(sample("d-2", "key")));
  REQUIRE(r.sandboxes.put(sample("d-3", "other")));
  REQUIRE(r.sandboxes.put(sample("s-4")));
  std::size_t seen = 0;
  auto picked = r.sandboxes.change_default("key", [&](std::vector<bh::SandboxLife>& all) {
    seen = all.size();
    all[1].busy = 3;
    return &all[1];
  });
  REQUIRE(picked);
  CHECK(seen == 2);
  CHECK((*picked)->id == "d-2");
  CHECK(r.sandboxes.life("d-2")->busy == 3);
  auto none = [&](std::vector<bh::SandboxLife>& all) -> bh::SandboxLife* {
    seen = all.size();
    return nullptr;
  };
  CHECK_FALSE(r.sandboxes.change_default("", none)->has_value());
  CHECK(seen == 0);  // the empty key is nobody's
}

TEST_CASE("jobs: put, read, finished once; they outlive their sandbox") {
  Records r;
  CHECK(r.jobs.put(job("j-1", "s-1")).error().code == BH_NOT_FOUND);
  REQUIRE(r.sandboxes.put(sample("s-1")));
  REQUIRE(r.sandboxes.put(sample("s-2")));
  REQUIRE(r.jobs.put(job("j-1", "s-1")));
  REQUIRE(r.jobs.put(job("j-2", "s-2")));
  auto got = r.jobs.get("j-1");
  REQUIRE(got);
  CHECK(bh::json::print(got->argv) == R"(["sh",{"base64":"AA=="}])");
  CHECK(bh::json::print(got->options) == R"({"cwd":"/"})");
  CHECK(got->owner.here());
  CHECK_FALSE(got->ended_ms);
  got->state = "ended";
  got->reason = "stopped";
  got->message = "a sentence";
  got->exit = {{"code", 0}};
  got->ended_ms = 8;
  got->bytes = 110;
  got->kept_from = 30;
  CHECK(r.jobs.finish(*got).value());
  got->exit = {{"code", 1}};
  CHECK_FALSE(r.jobs.finish(*got).value());
  got = r.jobs.get("j-1");
  CHECK(bh::json::print(got->exit) == R"({"code":0})");
  CHECK(got->reason == "stopped");
  CHECK(got->message == "a sentence");
  CHECK(got->bytes == 110);
  CHECK(got->ended_ms == 8);
  CHECK(r.jobs.list()->size() == 2);
  CHECK(r.jobs.list("s-2")->size() == 1);
  CHECK(r.jobs.list({}, "nobody")->empty());
  CHECK(r.jobs.list({}, r.jobs.list()->front().persona)->size() == 2);
  REQUIRE(r.sandboxes.remove("s-1"));
  CHECK(r.jobs.get("j-1"));
  REQUIRE(r.jobs.remove("j-1"));
  CHECK(r.jobs.get("j-1").error().code == BH_NOT_FOUND);
  CHECK_FALSE(r.jobs.finish(*got).value());
  REQUIRE(r.jobs.remove("j-2"));
  CHECK(r.jobs.list()->empty());
}

TEST_CASE("a sandbox's record that is written again keeps its jobs") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("s-1")));
  REQUIRE(r.jobs.put(job("j-1", "s-1")));
  REQUIRE(r.sandboxes.put(sample("s-1")));
  CHECK(r.jobs.get("j-1"));
}

TEST_CASE("jobs of dead owners are lost, with the reason; those of the living are not") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("s-1")));
  auto dead = job("j-dead", "s-1");
  dead.owner = bh::ProcessName::self();
  dead.owner.start++;  // the same pid, another process
  REQUIRE(r.jobs.put(dead));
  REQUIRE(r.jobs.put(job("j-alive", "s-1")));
  auto lost = r.jobs.lose(77);
  REQUIRE(lost);
  CHECK(*lost == std::vector<std::string>{"j-dead"});
  auto got = r.jobs.get("j-dead");
  CHECK(got->state == "lost");
  CHECK(got->ended_ms == 77);
  CHECK(got->reason == "owner_ended");
  CHECK(got->message.find(std::to_string(dead.owner.pid)) != std::string::npos);
  CHECK(r.jobs.get("j-alive")->state == "running");
  CHECK(r.jobs.lose(78)->empty());
}

TEST_CASE("ended jobs are stale by their age and by their number, each persona's by itself") {
  Records r;
  REQUIRE(r.sandboxes.put(sample("s-1")));
  for (int i = 0; i < 6; i++) {
    auto one = job("j-" + std::to_string(i), "s-1");
    one.persona = i < 4 ? "p" : "q";
    if (i != 3) {
      one.state = i % 2 == 0 ? "ended" : "lost";
      one.ended_ms = 100 + i;
    }
    REQUIRE(r.jobs.put(one));
  }
  CHECK(r.jobs.stale(0, 100)->empty());
  CHECK(r.jobs.stale(102, 100).value() == std::vector<std::string>{"j-0", "j-1"});
  CHECK(r.jobs.stale(0, 2).value() == std::vector<std::string>{"j-0"});
  CHECK(r.jobs.stale(0, 0)->size() == 5);  // never one that runs
}
