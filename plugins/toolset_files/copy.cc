// files_copy_to_sandbox and files_copy_from_sandbox: of any size, without passing through the model.
#include "tools.h"

namespace toolset_files {

namespace {

constexpr char kToInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["path","to"],
  "properties":{
    "path":{"type":"string","minLength":1,"description":"The stored file."},
    "to":{"type":"string","minLength":1,"description":"Where it goes inside: absolute, or relative to the sandbox's workspace. Folders are made."},
    "mode":{"type":"integer","minimum":0,"maximum":511,"description":"Permission bits: 493 (octal 755) makes it executable."},
    "sandbox_id":{"type":"string","minLength":1,"description":"Without it, the sandbox that commands run in when they name none."}
  }
})";

constexpr char kFromInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["from","path"],
  "properties":{
    "from":{"type":"string","minLength":1,"description":"The file inside: absolute, or relative to the sandbox's workspace."},
    "path":{"type":"string","minLength":1,"description":"What it is stored as: relative, as results/report.pdf."},
    "if_etag":{"type":"string","minLength":1,"description":"Only in place of the version with that etag; * only where there is none."},
    "sandbox_id":{"type":"string","minLength":1,"description":"Without it, the sandbox that commands run in when they name none."}
  }
})";

json::object in_sandbox(const json::object& args) {
  json::object out;
  const std::string_view id = json::text(args, "sandbox_id");
  if (!id.empty()) out["sandbox"] = json::value(std::string(id));
  return out;
}

}  // namespace

sdk::Tool copy_to_tool() {
  return sdk::Tool("files_copy_to_sandbox")
      .title("Copy a stored file into a sandbox")
      .description("Copies a stored file into the sandbox, of any size.")
      .input_schema(kToInput)
      .output_schema(
          R"({"type":"object","required":["path","to","size"],"properties":{"path":{"type":"string"},"to":{"type":"string"},"size":{"type":"integer"}}})")
      .read_only(false)
      .destructive(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.export/1");
}

sdk::Result<sdk::ToolResult> copy_to(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  json::object asked = in_sandbox(*args);
  pass(*args, {"path", "to", "mode"}, asked);
  auto copied = run(call, sdk::Operation("files.export"), asked);
  if (!copied) return std::move(copied).failure();
  return sdk::ToolResult("copied " + std::string(json::text(*copied, "path")) + " to " +
                         std::string(json::text(*copied, "to")) + " in the sandbox, " +
                         amount(json::integer(*copied, "size")))
      .structured(json::print(*copied));
}

sdk::Tool copy_from_tool() {
  return sdk::Tool("files_copy_from_sandbox")
      .title("Store a file of a sandbox")
      .description(
          "Stores a file that lies in the sandbox, of any size, where it outlives the sandbox.")
      .input_schema(kFromInput)
      .output_schema(
          R"({"type":"object","required":["path","size","etag"],"properties":{"path":{"type":"string"},"size":{"type":"integer"},"etag":{"type":"string"}}})")
      .read_only(false)
      .destructive(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.import/1");
}

sdk::Result<sdk::ToolResult> copy_from(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  json::object asked = in_sandbox(*args);
  pass(*args, {"from", "path", "if_etag"}, asked);
  auto stored = run(call, sdk::Operation("files.import"), asked);
  if (!stored) return std::move(stored).failure();
  return sdk::ToolResult("stored " + std::string(json::text(*stored, "path")) + ", " +
                         amount(json::integer(*stored, "size")))
      .structured(json::print(*stored));
}

}  // namespace toolset_files
