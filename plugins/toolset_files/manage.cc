// files_list and files_delete.
#include "tools.h"

namespace toolset_files {

namespace {

constexpr char kListInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "properties":{
    "path":{"type":"string","description":"A folder; without it, everything."},
    "recursive":{"type":"boolean","default":false,"description":"Also what lies in its folders."},
    "after":{"type":"string","description":"next of the answer before."},
    "limit":{"type":"integer","minimum":1,"maximum":10000,"default":200}
  }
})";

constexpr char kListOutput[] = R"({
  "type":"object",
  "required":["files","next"],
  "properties":{
    "files":{"type":"array","items":{"type":"object","required":["path","kind","size"],"properties":{
      "path":{"type":"string"},
      "kind":{"type":"string","enum":["file","folder","symlink","other"]},
      "size":{"type":"integer"},
      "etag":{"type":["string","null"]},
      "media_type":{"type":["string","null"]},
      "modified_ms":{"type":"integer"}}}},
    "next":{"type":["string","null"],"description":"Give it as after for what follows; null: that was all."}
  }
})";

constexpr char kDeleteInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["path"],
  "properties":{
    "path":{"type":"string","minLength":1},
    "recursive":{"type":"boolean","default":false,"description":"A folder with all that it holds."}
  }
})";

std::string line_of(const json::object& file) {
  std::string out(json::text(file, "path"));
  if (json::text(file, "kind") == "folder") return out + "/";
  out += " (" + amount(json::integer(file, "size"));
  const std::string_view type = json::text(file, "media_type");
  if (!type.empty()) out += ", " + std::string(type);
  return out + ")";
}

}  // namespace

sdk::Tool list_tool() {
  return sdk::Tool("files_list")
      .title("List stored files")
      .description("Lists the files that are stored, by name, with their sizes.")
      .input_schema(kListInput)
      .output_schema(kListOutput)
      .read_only(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.list/1");
}

sdk::Result<sdk::ToolResult> list(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  json::object asked{{"limit", 200}};
  pass(*args, {"path", "recursive", "after", "limit"}, asked);
  json::array files;
  std::string lines;
  sdk::Operation operation("files.list");
  operation.on_item([&](std::string_view item) -> sdk::Status {
    auto file = json::parse_object(item);
    if (!file) return std::move(file).failure();
    lines += (lines.empty() ? "" : "\n") + line_of(*file);
    files.emplace_back(std::move(*file));
    return {};
  });
  auto listed = run(call, std::move(operation), asked);
  if (!listed) return std::move(listed).failure();
  if (lines.empty()) lines = "no files are stored here";
  json::object out;
  out["files"] = std::move(files);
  const std::string next(json::text(*listed, "next"));
  out["next"] = next.empty() ? json::value(nullptr) : json::value(next);
  if (!next.empty()) lines += "\n[... more; go on with after " + sdk::json_quote(next) + "]";
  return sdk::ToolResult(lines).structured(json::print(out));
}

sdk::Tool remove_tool() {
  return sdk::Tool("files_delete")
      .title("Delete a stored file")
      .description("Deletes a stored file, or with recursive a folder and all that it holds.")
      .input_schema(kDeleteInput)
      .output_schema(
          R"({"type":"object","required":["path"],"properties":{"path":{"type":"string"}}})")
      .read_only(false)
      .destructive(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.delete/1");
}

sdk::Result<sdk::ToolResult> remove(sdk::Call& call, std::string_view text) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  json::object asked;
  pass(*args, {"path", "recursive"}, asked);
  auto gone = run(call, sdk::Operation("files.delete"), asked);
  if (!gone) return std::move(gone).failure();
  return sdk::ToolResult("deleted " + std::string(json::text(*gone, "path")))
      .structured(json::print(*gone));
}

}  // namespace toolset_files
