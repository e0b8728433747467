#include "mcp/tools.h"

#include <bulkhead/base64.hpp>
#include <unordered_set>

#include "mcp/json_writer.h"

namespace bh::mcp {
namespace {

constexpr std::string_view cursor_mark = "tool:";

// Clients refuse a whole list for one schema without "type":"object"; where the toolset left the
// type out it is added, the rest stays as it is.
void write_input_schema(ObjectWriter& w, JsonView schema) {
  std::string& out = w.value("inputSchema");
  if (!schema.is(JsonKind::object)) {
    out += R"({"type":"object"})";
    return;
  }
  if (schema.member("type")) {
    append_raw(out, schema);
    return;
  }
  std::string flat;
  append_raw(flat, schema);
  out += flat == "{}" ? R"({"type":"object")" : R"({"type":"object",)";
  out.append(flat, 1);
}

void write_annotations(ObjectWriter& w, JsonView given, JsonView title) {
  // Before titles had a place of their own they were an annotation.
  if (!given.is(JsonKind::object) && !title) return;
  ObjectWriter a(w.value("annotations"));
  JsonView own = given.member("title");
  a.raw("title", own ? own : title, JsonKind::string);
  a.raw("readOnlyHint", given.member("read_only"), JsonKind::boolean);
  a.raw("destructiveHint", given.member("destructive"), JsonKind::boolean);
  a.raw("idempotentHint", given.member("idempotent"), JsonKind::boolean);
  a.raw("openWorldHint", given.member("open_world"), JsonKind::boolean);
  a.close();
}

}  // namespace

std::string tool_text(JsonView definition, const Features& known) {
  std::string out;
  ObjectWriter w(out);
  JsonView title = definition.member("title");
  w.raw("name", definition.member("name"));
  if (known.titles) w.raw("title", title, JsonKind::string);
  w.raw("description", definition.member("description"), JsonKind::string);
  write_input_schema(w, definition.member("input_schema"));
  // These revisions let structured results be objects only, so a schema of anything else would
  // promise what cannot be sent.
  JsonView output = definition.member("output_schema");
  if (known.structured && output.member("type").text() == "object") w.raw("outputSchema", output);
  if (known.tool_annotations)
    write_annotations(w, definition.member("annotations"), known.titles ? JsonView() : title);
  w.close();
  return out;
}

std::optional<std::string> tools_page(const std::vector<std::string>& items, std::string_view after,
                                      size_t page_size, const Features& known) {
  std::string out;
  ObjectWriter w(out);
  std::string& list = w.value("tools");
  list += '[';
  bool begun = after.empty();
  size_t on_page = 0;
  std::string last;
  bool more = false;
  std::unordered_set<std::string> seen;
  for (const std::string& item : items) {
    JsonView definition(item);
    std::string name = definition.member("name").text();
    if (name.empty() || !seen.insert(name).second)
      continue;  // the first of a name is the one called
    if (!begun) {
      begun = name == after;
      continue;
    }
    if (on_page == page_size) {
      more = true;
      break;
    }
    if (on_page++ != 0) list += ',';
    list += tool_text(definition, known);
    last = name;
  }
  if (!begun) return std::nullopt;
  list += ']';
  if (more) w.text("nextCursor", cursor_after(last));
  w.close();
  return out;
}

std::string cursor_after(std::string_view tool) {
  return bulkhead::base64::encode(std::string(cursor_mark).append(tool));
}

std::optional<std::string> tool_of_cursor(std::string_view cursor) {
  if (cursor.size() > 1024) return std::nullopt;
  const std::optional<std::string> plain = bulkhead::base64::decode(cursor);
  if (!plain || plain->size() <= cursor_mark.size() || !plain->starts_with(cursor_mark))
    return std::nullopt;
  return plain->substr(cursor_mark.size());
}

}  // namespace bh::mcp
