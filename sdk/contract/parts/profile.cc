// The profile as a whole: every key is answered, what is required holds, what is not listed is
// refused.
#include <algorithm>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"

namespace bulkhead::sdk::contract {

namespace {

// A profile with every key that the schema lists, and the rules that have to be answered.
json::object full_profile(Try& t, const Folder& folder, std::vector<std::string>& rules) {
  const Schema& schema = t.backend.plugin().profile;
  json::object profile;
  auto add = [&](const char* key, json::value value, std::vector<std::string> answered) {
    if (!schema.lists(key)) return;
    profile[key] = std::move(value);
    for (auto& rule : answered) rules.push_back(std::move(rule));
  };
  const std::string work = folder.make("work");
  if (schema.allows("root.view", "host"))
    add("root", json::object({{"view", "host"}}), {"root.view"});
  add("workspace", json::object({{"source", work}}), {"workspace"});
  add("home", json::object({{"source", folder.make("home")}}), {"home"});
  add("tmp", json::object({{"source", folder.make("tmp")}}), {"tmp"});
  const std::string guarded = folder.make("work/guarded");
  if (schema.allows("files.access", "ro")) {
    add("files", json::array({json::object({{"path", guarded}, {"access", "ro"}})}),
        {"files:" + guarded});
  }
  if (schema.allows("mounts.access", "ro")) {
    const std::string path = schema.lists("workspace") ? work + "/mounted" : "/mnt/mounted";
    (void)folder.make("work/mounted");
    add("mounts", json::array({json::object({{"source", folder.make("more")}, {"path", path}})}),
        {"mounts:" + path});
  }
  if (schema.allows("network.mode", "unrestricted")) {
    add("network", json::object({{"mode", "unrestricted"}}), {"network.mode"});
  }
  if (schema.lists("limits")) {
    json::object limits;
    for (const auto& [key, value] : {std::pair<const char*, json::value>("cpu", 1),
                                     {"memory_bytes", 1 << 30},
                                     {"pids", 200},
                                     {"disk_bytes", 1 << 30},
                                     {"wall_ms", 60000},
                                     {"output_bytes", 1 << 20},
                                     {"open_files", 256}}) {
      if (!schema.lists(std::string("limits.") + key)) continue;
      limits[key] = value;
      rules.push_back(std::string("limits.") + key);
    }
    profile["limits"] = std::move(limits);
  }
  if (schema.lists("env")) {
    json::object env;
    if (schema.lists("env.allow"))
      env["allow"] = json::array({"LANG"}), rules.push_back("env.allow");
    if (schema.lists("env.set"))
      env["set"] = json::object({{"A", "b"}}), rules.push_back("env.set");
    profile["env"] = std::move(env);
  }
  if (schema.lists("user")) {
    json::object user;
    for (const auto& [key, value] :
         {std::pair<const char*, json::value>("uid", 1234), {"gid", 1234}, {"name", "someone"}}) {
      if (!schema.lists(std::string("user.") + key)) continue;
      user[key] = value;
      rules.push_back(std::string("user.") + key);
    }
    profile["user"] = std::move(user);
  }
  if (schema.allows("processes", "command")) add("processes", "command", {"processes"});
  if (schema.allows("capabilities", "none")) add("capabilities", "none", {"capabilities"});
  add("persona", "contract", {"persona"});
  add("hide", json::array({folder.make("hidden")}), {"isolation.hides"});
  add("required", json::array(), {});
  return profile;
}

void every_key(Try& t) {
  Folder folder(t.backend.scratch());
  std::vector<std::string> rules;
  const json::object profile = full_profile(t, folder, rules);
  const Made made = try_create(t, profile);
  t.require(made.answer.ok(), "a profile with every key of its schema: " + made.answer.text());
  t.expect(made.wrong.empty(), made.wrong);
  int enforced = 0;
  for (const auto& rule : rules) {
    const Line* line = made.report.find(rule);
    t.expect(line != nullptr, "no line about " + rule);
    if (line != nullptr && line->enforced()) ++enforced;
  }
  t.note(std::to_string(rules.size()) + " rules, " + std::to_string(enforced) + " enforced");
}

void plan_full(Try& t) {
  Folder folder(t.backend.scratch());
  std::vector<std::string> rules;
  const json::object profile = full_profile(t, folder, rules);
  const Answer planned = t.backend.plan(profile);
  if (planned.not_offered()) Try::skip("plan is not offered");
  t.require(planned.ok(), "plan: " + planned.text());
  std::string wrong;
  const Report plan = Report::parse(planned.said.result, wrong);
  const Made made = try_create(t, profile);
  t.require(made.answer.ok(), "create: " + made.answer.text());
  for (const Line& line : plan.lines()) {
    const Line* real = made.report.find(line.rule);
    t.expect(real != nullptr && real->strength() >= line.strength(),
             "plan promises that " + line.text() + ", and create does not keep that");
  }
}

void required_holds(Try& t) {
  needs_key(t, "required");
  Folder folder(t.backend.scratch());
  std::vector<std::string> rules;
  json::object profile = full_profile(t, folder, rules);
  const Made first = try_create(t, profile);
  t.require(first.answer.ok(), "create: " + first.answer.text());
  int tried = 0;
  for (const Line& line : first.report.lines()) {
    if (line.enforced() || tried == 6) continue;
    ++tried;
    profile["required"] = json::array({line.rule});
    const Made made = try_create(t, profile);
    t.expect(made.answer.returned && made.answer.status == BH_FAILED_PRECONDITION,
             line.rule + " is required and " + line.status + ", and create answers " +
                 made.answer.text());
  }
  profile["required"] = json::array({"contract.no-such-rule"});
  const Made made = try_create(t, profile);
  t.expect(made.answer.returned && made.answer.status != BH_OK,
           "a required rule that nobody knows is passed over");
  json::array all;
  for (const Line& line : first.report.lines()) {
    if (line.enforced()) all.emplace_back(line.rule);
  }
  profile["required"] = all;
  const Made whole = try_create(t, profile);
  t.expect(whole.answer.ok(), "requiring what is enforced: " + whole.answer.text());
}

void strength(Try& t) {
  const std::string_view word = json::text(t.backend.plugin().capabilities, "strength");
  if (word.empty()) Try::skip("the capabilities do not say what stands between");
  Folder folder(t.backend.scratch());
  std::vector<std::string> rules;
  const Made made = try_create(t, full_profile(t, folder, rules));
  t.require(made.answer.ok(), "create: " + made.answer.text());
  int walls = 0;
  for (const Line& line : made.report.lines()) {
    const bool wall = line.rule.rfind("files:", 0) == 0 || line.rule.rfind("mounts:", 0) == 0 ||
                      line.rule == "root.view" || line.rule == "workspace" ||
                      line.rule == "persona" || line.rule.rfind("user.", 0) == 0 ||
                      (line.rule.rfind("isolation.", 0) == 0 && line.rule != "isolation.end");
    if (!wall || !line.enforced()) continue;
    ++walls;
    t.expect(word != "none", "it isolates nothing, and says that " + line.text());
  }
  // The capabilities say what it can at best; here it may be less.
  if (word != "none" && walls == 0) t.note("no wall is enforced here");
}

void malformed(Try& t) {
  // A host checks profiles; a plugin that is handed nonsense all the same fails and does not crash.
  for (const char* text : {"", "{", "[]", "\"x\"", "{\"workspace\":{\"source\":\"relative\"}}",
                           "{\"workspace\":{\"source\":\"/a/../../etc\"}}"}) {
    const std::string id = t.backend.new_id();
    struct Out {
      void* sandbox = nullptr;
    };
    auto out = std::make_shared<Out>();
    const Answer answer = t.backend.call([=, create = t.backend.table().create,
                                          self = t.backend.self(),
                                          profile = std::string(text)](bh_call* c) {
      return create(self, c, id.data(), id.size(), profile.data(), profile.size(), &out->sandbox);
    });
    t.expect(answer.returned, std::string("create hangs on the profile ") + text);
    if (answer.ok()) t.backend.table().release(out->sandbox);
    t.expect(t.backend.destroy(id).ok(), "destroy after that");
  }
}

void unlisted(Try& t) {
  // A host takes such keys out. What comes all the same is refused, or has no line that claims it.
  const std::string id = t.backend.new_id();
  json::object profile;
  if (t.backend.plugin().profile.lists("workspace")) profile = base_profile(t.backend.scratch());
  profile["contract_unknown"] = json::object({{"wall", true}});
  const Made made = try_create(t, profile);
  t.expect(made.answer.returned, "create hangs on a key that it does not know");
  for (const Line& line : made.report.lines()) {
    t.expect(!(line.enforced() && line.rule.rfind("contract_unknown", 0) == 0),
             "a rule that nobody knows is enforced");
  }
}

void claims_only_given(Try& t) {
  const Made made = try_create(t, {});
  t.require(made.answer.ok(), "create with an empty profile: " + made.answer.text());
  for (const Line& line : made.report.lines()) {
    t.expect(line.rule.rfind("files:", 0) != 0 && line.rule.rfind("mounts:", 0) != 0 &&
                 line.rule.rfind("limits.", 0) != 0,
             "nothing was asked, and the report has a line " + line.rule);
  }
}

}  // namespace

void add_profile(Suite& s) {
  s.add("profile.every_key", "each key of the schema is answered by a line", every_key);
  s.add("profile.plan", "no line of plan is stronger than create's, with every key", plan_full);
  s.add("profile.required", "what is required and not enforced means no sandbox", required_holds);
  s.add("profile.strength", "the capabilities' strength agrees with the report", strength);
  s.add("profile.malformed", "nonsense is an error, not a crash", malformed);
  s.add("profile.unlisted", "a key that is not listed is never claimed", unlisted);
  s.add("profile.only_given", "limits and paths are reported where they were given",
        claims_only_given);
}

}  // namespace bulkhead::sdk::contract
