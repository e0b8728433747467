// sandbox_info and sandbox_kill: what sandboxes there are, and ending one.
#include <string>

#include "exec.h"

namespace toolset_sandbox {

namespace {

constexpr char kInfoSchema[] = R"({
  "type":"object",
  "required":["persona","sandboxes"],
  "properties":{
    "version":{"type":"string"},
    "persona":{"type":"string"},
    "backends":{"type":"array","items":{"type":"string"}},
    "defaults":{"type":"object"},
    "sandboxes":{"type":"array","items":{"type":"object"}}
  }
})";

constexpr char kKillInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["sandbox_id"],
  "properties":{"sandbox_id":{"type":"string","minLength":1,"description":"As sandbox_info lists it."}}
})";

// "id (bwrap, running, for calls that name none)": there is one of those for each shape asked for.
std::string describe(const json::object& sandbox) {
  std::string out(json::text(sandbox, "sandbox"));
  out += " (" + std::string(json::text(sandbox, "backend", "unknown backend"));
  out += ", " + std::string(json::text(sandbox, "state", "unknown state"));
  if (json::boolean(sandbox, "default")) out += ", for calls that name none";
  return out + ")";
}

}  // namespace

sdk::Tool info_tool() {
  return sdk::Tool("sandbox_info")
      .title("About the sandboxes")
      .description(
          "Says which sandboxes there are, by which means they isolate, and which limits "
          "and network hold in them.")
      .input_schema(R"({"type":"object","additionalProperties":false,"properties":{}})")
      .output_schema(kInfoSchema)
      .read_only(true)
      .idempotent(true)
      .open_world(false)
      .needs("host.inspect/1")
      .needs("sandbox.list/1");
}

sdk::Result<sdk::ToolResult> info(sdk::Call& call) {
  auto inspected = sdk::Operation("host.inspect").run(call);
  if (!inspected) return std::move(inspected).failure();
  auto host = json::parse_object(*inspected);
  if (!host) return std::move(host).failure();

  json::array sandboxes;
  std::string lines;
  auto listed = sdk::Operation("sandbox.list")
                    .on_item([&](std::string_view item) -> sdk::Status {
                      auto one = json::parse_object(item);
                      if (!one) return std::move(one).failure();
                      lines += "\n- " + describe(*one);
                      sandboxes.emplace_back(*std::move(one));
                      return {};
                    })
                    .run(call);
  if (!listed) return std::move(listed).failure();

  json::object out;
  for (const char* key : {"version", "persona", "backends", "defaults"}) {
    if (const json::value* v = host->if_contains(key)) out[key] = *v;
  }
  if (!out.contains("persona")) out["persona"] = "";
  std::string text = "Bulkhead " + std::string(json::text(*host, "version")) + ", persona " +
                     std::string(json::text(*host, "persona"));
  if (const json::object* defaults = json::child(*host, "defaults")) {
    text += ", network " + std::string(json::text(*defaults, "network", "off"));
  }
  text += sandboxes.empty() ? "\nNo sandbox yet: the first command makes one." : "\nSandboxes:";
  text += lines;
  out["sandboxes"] = std::move(sandboxes);
  return sdk::ToolResult(text).structured(json::print(out));
}

sdk::Tool kill_tool() {
  return sdk::Tool("sandbox_kill")
      .title("End a sandbox")
      .description(
          "Ends a sandbox and all that runs in it, and removes what it alone held. What "
          "lies in the workspace stays.")
      .input_schema(kKillInput)
      .output_schema(
          R"({"type":"object","required":["sandbox_id","state"],"properties":{"sandbox_id":{"type":"string"},"state":{"type":"string"}}})")
      .read_only(false)
      .destructive(true)
      .idempotent(true)
      .open_world(false)
      .needs("sandbox.kill/1");
}

sdk::Result<sdk::ToolResult> kill(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  const std::string id(json::text(*args, "sandbox_id"));
  auto ended =
      sdk::Operation("sandbox.kill").args(sdk::JsonObject().text("sandbox", id).str()).run(call);
  if (!ended) return std::move(ended).failure();
  return sdk::ToolResult("sandbox " + id + " has ended")
      .structured(sdk::JsonObject().text("sandbox_id", id).text("state", "terminated").str());
}

}  // namespace toolset_sandbox
