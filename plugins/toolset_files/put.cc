// files_put: one file, from text, base64, an attachment or the call's input.
#include "tools.h"

namespace toolset_files {

namespace {

constexpr char kInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["path"],
  "properties":{
    "path":{"type":"string","minLength":1,"description":"Relative, as notes/today.txt; folders are made."},
    "content":{"type":"string","description":"The whole file. Without it, the call's attachment or input is stored."},
    "encoding":{"type":"string","enum":["text","base64"],"default":"text","description":"Of content: base64 for what is no text."},
    "media_type":{"type":"string","maxLength":255,"description":"As image/png."},
    "if_etag":{"type":"string","minLength":1,"description":"Stores it only in place of the version with that etag (files_get tells it); * only where there is none."}
  }
})";

}  // namespace

sdk::Tool put_tool() {
  return sdk::Tool("files_put")
      .title("Store a file")
      .description(
          "Stores a file where it outlives sandboxes and conversations, in place of one of that "
          "name. It is written whole or not at all. For a file that lies in a sandbox use "
          "files_copy_from_sandbox.")
      .input_schema(kInput)
      .output_schema(
          R"({"type":"object","required":["path","size","etag"],"properties":{"path":{"type":"string"},"size":{"type":"integer"},"etag":{"type":"string"}}})")
      .read_only(false)
      .destructive(true)
      .idempotent(true)
      .open_world(false)
      .needs("files.put/1");
}

sdk::Result<sdk::ToolResult> put(sdk::Call& call, std::string_view text, sdk::Blobs blobs) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  json::object asked;
  pass(*args, {"path", "media_type", "if_etag"}, asked);
  sdk::Operation operation("files.put");
  if (args->contains("content")) {
    const json::value& content = args->at("content");
    if (json::text(*args, "encoding") == "base64") {
      asked["content"] = json::object{{"base64", content}};
    } else {
      asked["content"] = content;
    }
  } else if (args->contains("encoding")) {
    return sdk::failure(BH_INVALID_ARGUMENT, "encoding says how content is written, and there is none",
                        "schema", "/encoding", "leave it out: attachments and input are bytes");
  } else if (!blobs.empty()) {
    for (size_t i = 0; i < blobs.size(); ++i) operation.blob(blobs[i]);
  } else {
    operation.pass_input();
  }
  auto stored = run(call, std::move(operation), asked);
  if (!stored) return std::move(stored).failure();
  const std::string path(json::text(*stored, "path"));
  return sdk::ToolResult("stored " + path + ", " + amount(json::integer(*stored, "size")))
      .structured(json::print(*stored));
}

}  // namespace toolset_files
