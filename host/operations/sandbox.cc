// sandbox.create, .plan, .get, .list, .connect, .renew and .kill: the noun itself. What is done to a
// running one is in sandbox_state.cc, what runs inside in exec.cc.
#include "operations/catalogue.h"
#include "operations/rooms.h"
#include "operations/sandbox_item.h"
#include "operations/wish.h"

namespace bh {
namespace {

// The kernel gives arguments and environment together 2 MiB as a rule. Kept with the sandbox.
constexpr std::size_t kMostEnv = 512u << 10;

std::string id_of(const Arguments& args) {
  return std::string(json::get_string(args.values, "sandbox"));
}

// What no process can have in its environment is said now, not by the first command.
Result<void> check_env(const json::object& env) {
  std::size_t bytes = 0;
  for (const auto& member : env) {
    const std::string_view name(member.key().data(), member.key().size());
    const std::string_view value(member.value().get_string());
    bytes += name.size() + value.size();
    if (bytes > kMostEnv) {
      return fail(BH_RESOURCE_EXHAUSTED,
                  "env is larger than the " + std::to_string(kMostEnv >> 10) +
                      " KiB that leave room for a command's arguments; put it into a file",
                  "too_large", {{"field", "/env"}, {"limit", std::to_string(kMostEnv)}});
    }
    if (!name.empty() && name.find_first_of(std::string_view("=\0", 2)) == name.npos &&
        value.find('\0') == value.npos) {
      continue;
    }
    return fail(BH_INVALID_ARGUMENT,
                "env: " + json::quote(name) +
                    " cannot be set; a name is not empty, has no \"=\", and neither has a NUL byte",
                "variable", {{"field", "/env/" + std::string(name)}});
  }
  return {};
}

Result<void> create(Call& call, const Arguments& args) {
  NewSandbox wanted;
  wanted.wish = wish_of(args.values);
  if (args.values.contains("timeout_ms")) {
    wanted.timeout_ms = json::get_int(args.values, "timeout_ms");
  }
  if (const json::object* env = json::get_object(args.values, "env")) wanted.env = *env;
  if (const json::object* metadata = json::get_object(args.values, "metadata")) {
    wanted.metadata = *metadata;
  }
  BH_TRY(check_env(wanted.env));
  auto made = rooms_of(call).sandboxes.create(call, wanted);
  if (!made) return tl::unexpected(std::move(made).error());
  json::object out;
  out["sandbox"] = made->id;
  out["backend"] = made->backend;
  out["state"] = "running";
  out["enforcement"] = std::move(made->report);
  out["created_ms"] = made->created_ms;
  out["expires_ms"] = made->expires_ms ? json::value(*made->expires_ms) : json::value(nullptr);
  out["image"] = made->image.empty() ? json::value(nullptr) : json::value(made->image);
  out["metadata"] = std::move(made->metadata);
  return call.set_result(json::print(out));
}

Result<void> plan(Call& call, const Arguments& args) {
  auto planned = rooms_of(call).sandboxes.plan(call, wish_of(args.values));
  if (!planned) return tl::unexpected(std::move(planned).error());
  json::object out;
  out["backend"] = planned->backend;
  out["enforcement"] = std::move(planned->report);
  out["profile"] = std::move(planned->profile);
  return call.set_result(json::print(out));
}

Result<void> tell(Call& call, Result<SandboxRecord> record) {
  if (!record) return tl::unexpected(std::move(record).error());
  json::object out = sandbox_item(call.session(), *record);
  out["enforcement"] = std::move(record->report);
  return call.set_result(json::print(out));
}

Result<void> get(Call& call, const Arguments& args) {
  return tell(call, rooms_of(call).sandboxes.record(call.session(), id_of(args)));
}

Result<void> connect(Call& call, const Arguments& args) {
  return tell(call, rooms_of(call).sandboxes.connect(call, id_of(args)));
}

bool matches(const json::object& item, const json::object& wanted) {
  if (const json::array* states = json::get_array(wanted, "states")) {
    bool any = false;
    for (const json::value& state : *states) any = any || state == item.at("state");
    if (!any) return false;
  }
  const json::object* labels = json::get_object(wanted, "metadata");
  if (labels == nullptr) return true;
  const json::object& has = item.at("metadata").get_object();
  for (const auto& label : *labels) {
    const json::value* value = has.if_contains(label.key());
    if (value == nullptr || *value != label.value()) return false;
  }
  return true;
}

Result<void> list(Call& call, const Arguments& args) {
  auto all = rooms_of(call).sandboxes.list(call.session());
  if (!all) return tl::unexpected(std::move(all).error());
  std::int64_t count = 0;
  for (const SandboxRecord& record : *all) {
    json::object item = sandbox_item(call.session(), record);
    if (!matches(item, args.values)) continue;
    if (bh_status st = call.item(json::print(item))) return tl::unexpected(stop_error(st));
    count++;
  }
  return call.set_result(json::print(json::object{{"count", count}}));
}

Result<void> renew(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  auto expires = rooms_of(call).sandboxes.renew(call.session(), id,
                                                json::get_int(args.values, "timeout_ms"));
  if (!expires) return tl::unexpected(std::move(expires).error());
  return call.set_result(json::print(json::object{{"sandbox", id}, {"expires_ms", *expires}}));
}

Result<void> kill(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  BH_TRY(rooms_of(call).sandboxes.kill(call, id));
  return call.set_result(json::print(json::object{{"sandbox", id}, {"state", "terminated"}}));
}

std::string wish_properties() {
  return R"("backend":{"type":"string"},)"
         R"("workspace":{"type":"string","description":"A folder of the host; short for profile.workspace.source."},)"
         R"("image":{"type":"string","description":"What it starts from, by name: an image of the store (image.list), or one of the names under \"images\" in the configuration; short for profile.root.image."},)"
         R"("profile":)" +
         wished_profile_schema();
}

OperationSpec named(const char* name, const char* summary) {
  OperationSpec spec;
  spec.name = name;
  spec.summary = summary;
  spec.args_schema =
      R"({"type":"object","required":["sandbox"],"properties":{"sandbox":{"type":"string"}}})";
  spec.lane = Lane::kControl;
  spec.reasons = {"sandbox_not_found"};
  return spec;
}

}  // namespace

SandboxWish wish_of(const json::object& args) {
  SandboxWish wish;
  wish.backend = json::get_string(args, "backend");
  wish.workspace = json::get_string(args, "workspace");
  wish.image = json::get_string(args, "image");
  if (const json::object* profile = json::get_object(args, "profile")) wish.profile = *profile;
  return wish;
}

void add_sandbox_operations(const AddOperation& add) {
  const std::string told = std::string(R"({"type":"object","properties":{)") +
                           kSandboxItemProperties +
                           R"(,"enforcement":{"type":"object","description":"abi/schemas/enforcement.json"}}})";
  OperationSpec spec;
  spec.name = "sandbox.create";
  spec.summary =
      "Makes a sandbox with folders of its own; it lasts until it is killed or its time is over.";
  spec.args_schema =
      R"({"type":"object","properties":{)" + wish_properties() +
      R"(,"timeout_ms":{"type":"integer","minimum":1,"description":"It is ended that long after it was made; without it, never. sandbox.renew changes that."},)"
      R"("env":{"type":"object","additionalProperties":{"type":"string"},"description":"Of all its commands; what a command names itself comes first."},)"
      R"("metadata":{"type":"object","maxProperties":128,"additionalProperties":{"type":"string","maxLength":4096},"description":"For the caller's own use; sandbox.list finds by it."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"backend":{"type":"string"},"state":{"enum":["running"]},"enforcement":{"type":"object","description":"abi/schemas/enforcement.json"},"created_ms":{"type":"integer"},"expires_ms":{"type":["integer","null"]},"image":{"type":["string","null"]},"metadata":{"type":"object"}}})";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "contradiction",
                  "exec_option_unsupported", "image_unknown", "image_unsupported", "not_enforced", "sandbox_limit",
                  "too_large", "variable", "workspace_refused"};
  spec.run = create;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.plan";
  spec.summary = "Says what a sandbox of that shape would enforce, and makes none.";
  spec.args_schema = R"({"type":"object","properties":{)" + wish_properties() + "}}";
  spec.result_schema =
      R"({"type":"object","properties":{"backend":{"type":"string"},"enforcement":{"type":"object"},"profile":{"type":"object","description":"As the backend would get it."}}})";
  spec.repeatable = true;
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "contradiction", "image_unknown",
                  "image_unsupported", "too_large", "workspace_refused"};
  spec.run = plan;
  add(std::move(spec));

  spec = named("sandbox.get", "Tells what is known of a sandbox.");
  spec.result_schema = told;
  spec.repeatable = true;
  spec.run = get;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.list";
  spec.summary = "Lists the persona's sandboxes; the operator's session lists all.";
  spec.args_schema =
      R"({"type":"object","properties":{"states":{"type":"array","items":{"enum":["pending","running","pausing","paused","resuming","stopping","failed"]},"description":"One of these."},"metadata":{"type":"object","additionalProperties":{"type":"string"},"description":"All of these, with these values."}}})";
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = "items as sandbox.get, without enforcement";
  spec.lane = Lane::kControl;
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));

  spec = named("sandbox.connect",
               "Opens a sandbox, and tells of it as sandbox.get; \"failed\" where its backend lost it.");
  spec.result_schema = told;
  spec.lane = Lane::kWork;
  spec.repeatable = true;
  spec.reasons = {"backend_unavailable", "not_enforced", "sandbox_not_found"};
  spec.run = connect;
  add(std::move(spec));

  spec = named("sandbox.renew", "Sets the time after which a sandbox is ended, from now on.");
  spec.args_schema =
      R"({"type":"object","required":["sandbox","timeout_ms"],"properties":{"sandbox":{"type":"string"},"timeout_ms":{"type":"integer","minimum":1}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"expires_ms":{"type":"integer","description":"Unix time."}}})";
  spec.repeatable = true;
  spec.reasons = {"sandbox_ended", "sandbox_not_found"};
  spec.run = renew;
  add(std::move(spec));

  spec = named("sandbox.kill", "Ends everything in a sandbox and removes it with its own folders.");
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"state":{"enum":["terminated"]}}})";
  spec.run = kill;
  add(std::move(spec));
}

}  // namespace bh
