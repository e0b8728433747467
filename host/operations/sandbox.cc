// sandbox.create, .plan, .list and .kill: the noun itself. What runs inside is in exec.cc.
#include "operations/catalogue.h"
#include "operations/rooms.h"
#include "operations/wish.h"

namespace bh {
namespace {

Result<void> create(Call& call, const Arguments& args) {
  auto made = rooms_of(call).sandboxes.create(call, wish_of(args.values));
  if (!made) return tl::unexpected(std::move(made).error());
  json::object out;
  out["sandbox"] = (*made)->id;
  out["backend"] = (*made)->opened->backend->id();
  out["state"] = "running";
  out["enforcement"] = (*made)->report;
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

Result<void> list(Call& call, const Arguments&) {
  auto all = rooms_of(call).sandboxes.list(call.session());
  if (!all) return tl::unexpected(std::move(all).error());
  std::int64_t count = 0;
  for (const SandboxRecord& record : *all) {
    json::object item;
    item["sandbox"] = record.id;
    item["backend"] = record.backend;
    item["state"] = record.state == "making" ? "pending" : record.state;
    item["created_ms"] = record.created_ms;
    item["default"] = !record.default_key.empty();
    if (call.session().is_operator) item["persona"] = record.persona;
    if (bh_status st = call.item(json::print(item))) return tl::unexpected(stop_error(st));
    count++;
  }
  return call.set_result(json::print(json::object{{"count", count}}));
}

Result<void> kill(Call& call, const Arguments& args) {
  std::string id(json::get_string(args.values, "sandbox"));
  BH_TRY(rooms_of(call).sandboxes.kill(call, id));
  return call.set_result(json::print(json::object{{"sandbox", id}, {"state", "terminated"}}));
}

std::string wish_schema() {
  return R"({"type":"object","properties":{"backend":{"type":"string"},)"
         R"("workspace":{"type":"string","description":"A folder of the host; short for profile.workspace.source."},)"
         R"("profile":)" +
         wished_profile_schema() + "}}";
}

}  // namespace

SandboxWish wish_of(const json::object& args) {
  SandboxWish wish;
  wish.backend = json::get_string(args, "backend");
  wish.workspace = json::get_string(args, "workspace");
  if (const json::object* profile = json::get_object(args, "profile")) wish.profile = *profile;
  return wish;
}

void add_sandbox_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "sandbox.create";
  spec.summary = "Makes a sandbox with folders of its own; it lasts until it is killed.";
  spec.args_schema = wish_schema();
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"backend":{"type":"string"},"state":{"enum":["running"]},"enforcement":{"type":"object","description":"abi/schemas/enforcement.json"}}})";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "not_enforced",
                  "workspace_refused"};
  spec.run = create;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.plan";
  spec.summary = "Says what a sandbox of that shape would enforce, and makes none.";
  spec.args_schema = wish_schema();
  spec.result_schema =
      R"({"type":"object","properties":{"backend":{"type":"string"},"enforcement":{"type":"object"},"profile":{"type":"object","description":"As the backend would get it."}}})";
  spec.repeatable = true;
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "workspace_refused"};
  spec.run = plan;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.list";
  spec.summary = "Lists the persona's sandboxes; the operator's session lists all.";
  spec.args_schema = R"({"type":"object","properties":{}})";
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = "items {sandbox, backend, state, created_ms, default}, with persona for the operator";
  spec.lane = Lane::kControl;
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.kill";
  spec.summary = "Ends everything in a sandbox and removes it with its own folders.";
  spec.args_schema =
      R"({"type":"object","required":["sandbox"],"properties":{"sandbox":{"type":"string"}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"state":{"enum":["terminated"]}}})";
  spec.lane = Lane::kControl;
  spec.reasons = {"sandbox_not_found"};
  spec.run = kill;
  add(std::move(spec));
}

}  // namespace bh
