// From create to destroy: names, finding, listing, and what is left.
#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

// The states that list() gives for a sandbox; empty: it is not listed.
std::string listed(Try& t, const std::string& id) {
  const Answer answer = t.backend.list();
  if (answer.not_offered()) Try::skip("list is not offered");
  t.require(answer.ok(), "list: " + answer.text());
  for (const auto& item : answer.said.items) {
    auto o = json::parse_object(item);
    t.require(o.ok() && !json::text(*o, "id").empty() && !json::text(*o, "state").empty(),
              "list gives " + item + " where an id and a state are due");
    if (json::text(*o, "id") == id) return std::string(json::text(*o, "state"));
  }
  return {};
}

struct Handle {
  void* sandbox = nullptr;
};
Answer find(Try& t, void* self, const std::string& id, const std::shared_ptr<Handle>& out) {
  const auto find = t.backend.table().find;
  if (find == nullptr) Try::skip("find is not offered");
  Answer answer = t.backend.call(
      [=](bh_call* c) { return find(self, c, id.data(), id.size(), &out->sandbox); });
  if (answer.not_offered()) Try::skip("find is not offered");
  return answer;
}

Answer create_raw(Try& t, const std::string& id, const json::object& profile) {
  auto out = std::make_shared<Handle>();
  Answer answer = t.backend.call([=, create = t.backend.table().create, self = t.backend.self(),
                                  text = json::print(profile)](bh_call* c) {
    return create(self, c, id.data(), id.size(), text.data(), text.size(), &out->sandbox);
  });
  if (answer.ok()) t.backend.table().release(out->sandbox);
  return answer;
}

void report_given(Try& t) {
  const Made made = try_create(t, {});
  t.require(made.answer.ok(), "create with an empty profile: " + made.answer.text());
  t.expect(made.wrong.empty(), made.wrong);
  t.equal("the number of results", made.answer.said.results, 1);
}

void names(Try& t) {
  for (const std::string& id : {std::string("a"), t.backend.new_id() + "-with-dashes--in-it-",
                                std::string(63, 'n'), std::string("0")}) {
    const Answer answer = create_raw(t, id, {});
    t.expect(answer.ok(), "a sandbox cannot be called " + id + ": " + answer.text());
    t.expect(t.backend.destroy(id).ok(), "destroy of " + id);
  }
}

void bad_names(Try& t) {
  const std::string before = join(tree(t.backend.scratch()), "\n");
  for (const std::string& id : {std::string("../out"), std::string(".."), std::string("a/b"),
                                std::string("A"), std::string(), std::string(64, 'n')}) {
    const Answer answer = create_raw(t, id, {});
    t.expect(answer.returned && answer.status != BH_OK, "a sandbox may be called \"" + id + "\"");
    if (answer.ok()) (void)t.backend.destroy(id);
  }
  t.equal("what lies in the state folder after that", join(tree(t.backend.scratch()), "\n"),
          before);
}

void twice(Try& t) {
  Box box(t);
  const Answer again = create_raw(t, box.id(), {});
  t.expect(again.returned && again.status == BH_ALREADY_EXISTS,
           "the second create of a name answers " + again.text());
  t.expect(box.sh("exit 0").exited(0), "the first one does not work after that");
}

void found(Try& t) {
  Box box(t);
  std::shared_ptr<void> second;
  const Answer opened = t.backend.open_second(second);
  t.require(opened.ok(), "a second opening of the same owner: " + opened.text());
  auto handle = std::make_shared<Handle>();
  const Answer answer = find(t, second.get(), box.id(), handle);
  t.require(answer.ok(), "find from a second opening: " + answer.text());
  std::string wrong;
  const Report report = Report::parse(answer.said.result, wrong);
  t.expect(wrong.empty(), "find: " + wrong);
  for (const Line& line : report.lines()) {
    const Line* first = box.report().find(line.rule);
    t.expect(first != nullptr && first->status == line.status,
             "find reports " + line.text() + ", create did not");
  }
  t.backend.table().release(handle->sandbox);
  if (t.backend.abandoned()) (void)new std::shared_ptr<void>(second);
}

void not_found(Try& t) {
  auto handle = std::make_shared<Handle>();
  const Answer answer = find(t, t.backend.self(), t.backend.new_id(), handle);
  t.expect(answer.returned && answer.status == BH_NOT_FOUND, "find of nothing: " + answer.text());
}

void reopened(Try& t) {
  if (!t.backend.plugin().is("persistent")) Try::skip("its sandboxes do not outlive the process");
  if (t.backend.abandoned()) Try::skip("a call is still in it");
  Box box(t);
  (void)box.sh("echo kept > kept");
  box.release();
  const Answer opened = t.backend.open();
  t.require(opened.ok(), "opening it again: " + opened.text());
  t.expect(!listed(t, box.id()).empty(), "after a restart it is not listed");
  auto handle = std::make_shared<Handle>();
  const Answer answer = find(t, t.backend.self(), box.id(), handle);
  t.require(answer.ok(), "after a restart: " + answer.text());
  t.backend.table().release(handle->sandbox);
}

void list_truth(Try& t) {
  std::string id;
  {
    Box box(t);
    id = box.id();
    t.equal("the state of a new one", listed(t, id), "running");
  }
  t.equal("the state of one that was destroyed", listed(t, id), "");
}

void released(Try& t) {
  Box box(t);
  box.release();
  auto handle = std::make_shared<Handle>();
  const Answer answer = find(t, t.backend.self(), box.id(), handle);
  t.require(answer.ok(), "after release it is not found: " + answer.text());
  t.backend.table().release(handle->sandbox);
}

void destroy_absent(Try& t) {
  const Answer answer = t.backend.destroy(t.backend.new_id());
  t.expect(answer.ok(), "destroy of what never was: " + answer.text());
}

void destroy_twice(Try& t) {
  Box box(t);
  t.expect(box.destroy().ok(), "the first destroy");
  const Answer again = t.backend.destroy(box.id());
  t.expect(again.ok(), "the second destroy: " + again.text());
}

void destroy_running(Try& t) {
  Box box(t);
  const std::string token = new_token();
  Running running = box.start(box.probe_command({"linger", token}));
  t.require(running.says("lingers"), "the command does not start");
  const Answer gone = t.backend.destroy(box.id());
  t.expect(gone.ok(), "destroy beside a running command: " + gone.text());
  const Ran ran = running.wait(seconds(10));
  t.require(ran.returned, "the command goes on after destroy");
  t.expect(ran.status == BH_OK &&
               (ran.exit.reason == BH_EXIT_STOPPED || ran.exit.reason == BH_EXIT_LOST),
           "it ended as: " + ran.told() + ", in place of BH_EXIT_STOPPED");
  t.expect(all_gone(token, seconds(2)), "its process is still there");
}

void half_made(Try& t) {
  // A profile that cannot be: what create() began must go by destroy().
  json::object profile = base_profile(t.backend.scratch() + "/no/such/folder");
  if (!t.backend.plugin().profile.lists("workspace")) Try::skip("no workspace in its profile");
  const std::string id = t.backend.new_id();
  const Answer made = create_raw(t, id, profile);
  if (made.ok()) t.note("a workspace that is not there is accepted");
  const Answer gone = t.backend.destroy(id);
  t.expect(gone.ok(), "destroy after a failed create: " + gone.text());
  t.equal("its state in the list", listed(t, id), "");
}

void plan_true(Try& t) {
  const Answer planned = t.backend.plan(json::object());
  if (planned.not_offered()) Try::skip("plan is not offered");
  t.require(planned.ok(), "plan: " + planned.text());
  std::string wrong;
  const Report plan = Report::parse(planned.said.result, wrong);
  t.expect(wrong.empty(), "plan: " + wrong);
  const Made made = try_create(t, {});
  t.require(made.answer.ok(), "create: " + made.answer.text());
  for (const Line& line : plan.lines()) {
    const Line* real = made.report.find(line.rule);
    t.expect(real != nullptr && real->strength() >= line.strength(),
             "plan promises that " + line.text() + ", and create does not keep that");
  }
}

void plan_makes_nothing(Try& t) {
  const std::string before = join(tree(t.backend.state()), "\n");
  json::object profile;
  if (t.backend.plugin().profile.lists("workspace")) profile = base_profile(t.backend.scratch());
  const Answer planned = t.backend.plan(profile);
  if (planned.not_offered()) Try::skip("plan is not offered");
  t.require(planned.ok(), "plan: " + planned.text());
  t.equal("the state folder after plan", join(tree(t.backend.state()), "\n"), before);
  const Answer list = t.backend.list();
  if (list.ok()) t.expect(list.said.items.empty(), "plan made " + join(list.said.items));
}

void inspected(Try& t) {
  Box box(t);
  const Answer answer = box.inspect();
  t.require(answer.ok(), "inspect: " + answer.text());
  auto state = json::parse_object(answer.said.result);
  t.require(state.ok(), "inspect gives no JSON object");
  t.equal("the state", std::string(json::text(*state, "state")), "running");
  const auto* processes = state->if_contains("processes");
  t.expect(processes == nullptr || processes->is_array(),
           "\"processes\" is no list (abi/schemas/sandbox_state.json)");
  const auto* execs = state->if_contains("execs");
  t.expect(execs == nullptr || execs->is_array(), "\"execs\" is no list");
}

void nothing_left(Try& t) {
  std::string id;
  {
    Box box(t);
    id = box.id();
    (void)box.sh("echo x > file; mkdir -p deep/er; touch \"$HOME/y\" /tmp/z 2>/dev/null; true");
  }
  std::string named;
  for (const auto& path : tree(t.backend.state())) {
    if (path.find(id) != std::string::npos) named += path + " ";
  }
  t.equal("what destroy left in the state folder", named, "");
  t.equal("mounts that name it", join(mounts_with(id)), "");
  t.equal("control groups that name it", join(groups_with(id)), "");
}

}  // namespace

void add_life_cycle(Suite& s) {
  s.add("life.report", "create gives one report that is in order", report_given);
  s.add("life.names", "all names that a host gives are taken", names);
  s.add("life.bad_names", "names that lead elsewhere are refused and make nothing", bad_names);
  s.add("life.twice", "a name is taken once", twice);
  s.add("life.find", "a second opening finds it, with the same report", found);
  s.add("life.find_absent", "what is not there is BH_NOT_FOUND", not_found);
  s.add("life.reopened", "closed and opened again it is there", reopened);
  s.add("life.list", "list tells what is there and nothing else", list_truth);
  s.add("life.release", "release forgets the handle and the sandbox goes on", released);
  s.add("life.destroy_absent", "destroy of what is not there is done", destroy_absent);
  s.add("life.destroy_twice", "destroy may come again", destroy_twice);
  s.add("life.destroy_running", "destroy ends a running command, which returns as stopped",
        destroy_running);
  s.add("life.half_made", "after a failed create destroy takes all away", half_made);
  s.add("life.plan", "no line of plan is stronger than create's", plan_true);
  s.add("life.plan_makes_nothing", "plan makes nothing", plan_makes_nothing);
  s.add("life.inspect", "inspect tells the state as its schema has it", inspected);
  s.add("life.nothing_left", "destroy leaves no file, mount or control group", nothing_left);
}

}  // namespace bulkhead::sdk::contract
