// Any function from any thread, beside everything.
#include <atomic>
#include <map>
#include <thread>

#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

struct One {
  std::string id, profile, trouble;
  void* sandbox = nullptr;
};

void fifty(Try& t) {
  const bool persona = t.backend.plugin().profile.lists("persona");
  std::vector<std::shared_ptr<One>> all;
  std::vector<std::shared_ptr<Flight>> flights;
  for (int i = 0; i < 50; ++i) {
    auto one = std::make_shared<One>();
    one->id = t.backend.new_id();
    json::object profile;
    if (persona) profile["persona"] = "contract-" + std::to_string(i);
    one->profile = json::print(profile);
    all.push_back(one);
    auto flight = t.backend.fly();
    flights.push_back(flight);
    const bh_isolation table = t.backend.table();
    Backend::start(flight, [one, table, self = t.backend.self(), i](bh_call* c) {
      const bh_status made = table.create(self, c, one->id.data(), one->id.size(),
                                          one->profile.data(), one->profile.size(), &one->sandbox);
      if (made != BH_OK) return made;
      const std::string text = "echo thread " + std::to_string(i);
      const bh_str argv[] = {str("/bin/sh"), str("-c"), str(text)};
      bh_exec what{};
      what.struct_size = sizeof what;
      what.id = str("only");
      what.argv = argv;
      what.argc = 3;
      what.options = str("{}");
      bh_exit exit{};
      exit.struct_size = sizeof exit;
      const bh_status ran = table.exec(one->sandbox, c, &what, &exit);
      if (ran == BH_OK && exit.exit_code != 0)
        one->trouble = "exit " + std::to_string(exit.exit_code);
      return ran;
    });
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Answer answer = t.backend.land(flights[i], seconds(90));
    const auto kept = answer.said.kept.find(BH_STREAM_STDOUT);
    t.expect(answer.ok() && all[i]->trouble.empty(),
             "sandbox " + std::to_string(i) + " of 50: " + answer.text() + " " + all[i]->trouble);
    t.expect(answer.ok() && kept != answer.said.kept.end() &&
                 kept->second == "thread " + std::to_string(i) + "\n",
             "sandbox " + std::to_string(i) + " of 50 has another's output");
    if (answer.returned && all[i]->sandbox != nullptr) t.backend.table().release(all[i]->sandbox);
  }
  std::vector<std::shared_ptr<Flight>> ends;
  for (const auto& one : all) {
    auto flight = t.backend.fly();
    ends.push_back(flight);
    Backend::start(flight,
                   [one, destroy = t.backend.table().destroy, self = t.backend.self()](bh_call* c) {
                     return destroy(self, c, one->id.data(), one->id.size());
                   });
  }
  for (const auto& flight : ends) {
    const Answer answer = t.backend.land(flight);
    t.expect(answer.ok(), "destroy beside forty-nine others: " + answer.text());
  }
}

void racing_names(Try& t) {
  const std::string id = t.backend.new_id();
  std::vector<std::shared_ptr<One>> all;
  std::vector<std::shared_ptr<Flight>> flights;
  for (int i = 0; i < 8; ++i) {
    auto one = std::make_shared<One>();
    one->id = id;
    one->profile = "{}";
    all.push_back(one);
    flights.push_back(t.backend.fly());
    Backend::start(flights.back(),
                   [one, create = t.backend.table().create, self = t.backend.self()](bh_call* c) {
                     return create(self, c, one->id.data(), one->id.size(), one->profile.data(),
                                   one->profile.size(), &one->sandbox);
                   });
  }
  int made = 0;
  for (size_t i = 0; i < flights.size(); ++i) {
    const Answer answer = t.backend.land(flights[i]);
    if (answer.ok()) ++made;
    if (answer.ok()) t.backend.table().release(all[i]->sandbox);
    t.expect(answer.ok() || answer.status == BH_ALREADY_EXISTS || answer.status == BH_ABORTED,
             "a create that lost a race: " + answer.text());
  }
  t.equal("sandboxes of one name", made, 1);
  t.expect(t.backend.destroy(id).ok(), "destroy");
}

void racing_destroy(Try& t) {
  for (int round = 0; round < 5; ++round) {
    Box box(t);
    std::vector<Running> all;
    for (int i = 0; i < 4; ++i) all.push_back(box.start(Command{{"/bin/sh", "-c", "sleep 20"}}));
    const Answer gone = t.backend.destroy(box.id());
    t.expect(gone.ok(), "destroy beside commands that start: " + gone.text());
    for (Running& one : all) {
      const Ran ran = one.wait(seconds(10));
      t.require(ran.returned, "a command that started beside destroy goes on");
      t.expect(ran.status != BH_OK || ran.exit.reason == BH_EXIT_STOPPED ||
                   ran.exit.reason == BH_EXIT_LOST,
               "a command that started beside destroy: " + ran.told());
    }
  }
}

}  // namespace

void add_threads(Suite& s) {
  s.add("threads.fifty", "fifty sandboxes are made, used and destroyed at once", fifty);
  s.add("threads.names", "of eight creates of one name one succeeds", racing_names);
  s.add("threads.destroy", "destroy and commands that start meet without harm", racing_destroy);
}

}  // namespace bulkhead::sdk::contract
