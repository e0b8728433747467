// kill -9 of a host at random points: nothing lost, nothing doubled, nothing left running.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "boxes.h"
#include "second_host.h"
#include "state/sandbox_records.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bh_test;
namespace json = bh::json;
namespace fs = std::filesystem;

namespace {

// What hosts were told about each sandbox before they died.
struct Told {
  std::set<std::string> alive;    // its creation was answered, no kill was asked for
  std::set<std::string> killed;   // the kill was answered
  std::set<std::string> killing;  // asked for, not answered: either will do
};

void note(const std::string& line, Told& told) {
  const std::size_t space = line.find(' ');
  const std::string what = line.substr(0, space);
  const std::string id = space == std::string::npos ? "" : line.substr(space + 1);
  if (what == "fault") FAIL(line);
  if (what == "created") CHECK(told.alive.insert(id).second);
  if (what == "killing") {
    told.alive.erase(id);
    told.killing.insert(id);
  }
  if (what == "killed") {
    told.killing.erase(id);
    told.killed.insert(id);
  }
}

std::set<std::string> names_in(const std::string& folder, const std::string& ending = {}) {
  std::set<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    std::string name = entry.path().filename();
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
    out.insert(name.substr(0, name.size() - ending.size()));
  }
  return out;
}

using Clock = std::chrono::steady_clock;

// How long a host works here for one call, measured over the first of a life; that one is killed too.
Clock::duration one_call(const std::string& config, const std::string& program, Told& told) {
  SecondHost host(config);
  REQUIRE(host.ready);
  const auto started = Clock::now();
  host.tell("work 1 " + program);
  constexpr int kCalls = 5;
  for (int i = 0; i < kCalls; i++) {
    const std::string line = host.line();
    REQUIRE_FALSE(line.empty());
    note(line, told);
  }
  const auto took = (Clock::now() - started) / kCalls;
  host.kill();
  for (std::string line; !(line = host.line()).empty();) note(line, told);
  return took;
}

// One host that works until it is killed: `delay` after it has said `lines` lines. With none it dies in
// its first call, or before; and what was said does not depend on how fast the machine is just then.
void one_life(const std::string& config, unsigned seed, const std::string& program, unsigned lines,
              Clock::duration delay, Told& told) {
  SecondHost host(config);
  REQUIRE(host.ready);
  host.tell("work " + std::to_string(seed) + " " + program);
  for (unsigned i = 0; i < lines; i++) {
    const std::string line = host.line();
    REQUIRE_FALSE(line.empty());
    note(line, told);
  }
  std::this_thread::sleep_for(delay);
  host.kill();
  for (std::string line; !(line = host.line()).empty();) note(line, told);
}

// A fresh host finds all that was answered, and it works.
void look(const std::string& config, const char* program, const Told& told) {
  Embedder host(config);
  REQUIRE(host.session != nullptr);
  std::map<std::string, int> listed;
  Answer list = host.call("sandbox.list", "{}");
  for (const std::string& item : list.items) {
    listed[member_of(item, "sandbox")]++;
    CHECK((member_of(item, "state") == "running" || member_of(item, "state") == "stopping"));
  }
  for (const auto& [id, times] : listed) {
    INFO(id);
    CHECK(times == 1);
    CHECK(told.killed.count(id) == 0);
  }
  for (const std::string& id : told.alive) {
    INFO(id);
    CHECK(listed.count(id) == 1);
    CHECK(host.call("sandbox.exec", named(id, R"(,"argv":[")" + std::string(program) + "\"]")).last ==
          BH_EVENT_RESULT);
  }
}

// What is on the disk once that host has closed: no half-made record, no folder without one.
std::set<std::string> check_left(const std::string& data) {
  auto root = bh::DataRoot::open(data).value();
  bh::Database db(root);
  std::set<std::string> ids, own;
  const std::vector<bh::SandboxLife> lives = bh::SandboxRecords(db).lives().value();
  for (const bh::SandboxLife& life : lives) {
    INFO(life.id << " " << life.state << " " << life.reason << " " << life.message);
    CHECK(life.state == "running");
    CHECK(life.busy == 0);
    CHECK_FALSE(life.inherited);
    ids.insert(life.id);
    if (life.default_key.empty()) own.insert(life.id);
  }
  CHECK(names_in(data + "/sandboxes") == own);
  return ids;
}

// Processes with that text among their arguments.
int running(const std::string& text) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    if (all.str().find(text) != std::string::npos) count++;
  }
  return count;
}

}  // namespace

TEST_CASE("kill -9 of the owner at 50 random points") {
  Place place;
  const std::string data = place.path + "/d";
  const std::string config = boxes_at(data);
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Told told;
  const Clock::duration call = one_call(config, "say", told);
  for (unsigned point = 0; point < 50; point++) {
    // Within the first call in every third life, anywhere in the calls after some answers in the others.
    const unsigned lines = point % 3 == 0 ? 0 : random() % 12;
    one_life(config, random(), "say", lines, call * (random() % 1000) / 500,
             told);
    if (point % 5 != 4) continue;
    look(config, "say", told);
    CHECK(check_left(data) == names_in(data + "/backends/boxes", ".box"));
    // Hundreds of them would only make the next looks slower.
    Embedder host(config);
    while (told.alive.size() > 5) {
      const std::string id = *told.alive.begin();
      CHECK(host.call("sandbox.kill", named(id)).last == BH_EVENT_RESULT);
      told.alive.erase(id);
      told.killed.insert(id);
    }
  }
  // A life's first lines are two creations, so this many is no matter of speed.
  CHECK(told.alive.size() + told.killed.size() > 5);
}

TEST_CASE("kill -9 of the owner with bubblewrap: nothing is left running") {
  // Not in /tmp, of which sandboxes have their own.
  std::string folder = BH_BINARY_DIR "/tests/kill9-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  struct Gone {
    const std::string& path;
    ~Gone() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } gone{folder};
  const std::string data = folder + "/d";
  const std::string config =
      R"({"version":1,"data_root":")" + data + R"(","plugins":{"path":[")" BH_BINARY_DIR
      R"(/plugins"],"environment":false,"user":false,"relative":false,"system":false},"isolation":{"backend":"bwrap"}})";
  {
    Embedder host(config);
    REQUIRE(host.session != nullptr);
    Answer made = host.call("sandbox.create", "{}");
    if (made.last != BH_EVENT_RESULT) BH_SKIP("no bubblewrap here: " + made.fault.message);
  }
  const std::string marker = "98765" + std::to_string(::getpid());
  std::mt19937 random(std::random_device{}());
  Told told;
  const Clock::duration call = one_call(config, "true", told);
  for (unsigned point = 0; point < 5; point++) {
    one_life(config, random(), "true", point % 2 == 0 ? 0 : random() % 8, call * (random() % 1000) / 250,
             told);
    // And one that dies with commands running, some of which ignore whatever can be ignored.
    SecondHost host(config);
    const std::string stubborn =
        R"("argv":["sh","-c","trap '' HUP INT TERM; (setsid sleep )" + marker + R"( &) ; sleep )" +
        marker + R"(; :"]})";
    CHECK(host.ask("start sandbox.exec {" + stubborn).rfind("started ", 0) == 0);
    int most = 0;
    for (int i = 0; i < 500 && most < 2; i++) {
      most = std::max(most, running(marker));
      ::usleep(10'000);
    }
    CHECK(most >= 2);
    host.kill();
    look(config, "true", told);
    (void)check_left(data);
    for (int i = 0; i < 500 && running(marker) > 0; i++) ::usleep(10'000);
    CHECK(running(marker) == 0);
  }
  Embedder host(config);
  for (const std::string& item : host.call("sandbox.list", "{}").items) {
    CHECK(host.call("sandbox.kill", named(member_of(item, "sandbox"))).last == BH_EVENT_RESULT);
  }
}
