#include "file_tree.h"

#include <utility>

#include "encoding.h"
#include "lifecycle.h"

namespace toolset_sandbox {

namespace {

// A user or group by name, or by number where it has no name.
std::string name_of(const json::object& item, std::string_view key) {
  const json::value* v = item.if_contains({key.data(), key.size()});
  if (v != nullptr && v->is_number()) return std::to_string(json::integer(item, key));
  return std::string(json::text(item, key));
}

// Nothing to do is done: the operations want at least one.
sdk::Result<sdk::ToolResult> on_paths(Request& request, const char* operation) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  const json::array& paths = request.args.at("paths").get_array();
  if (!paths.empty()) {
    auto done = operate(request.call, operation, {{"sandbox", *id}, {"paths", paths}});
    if (!done) return std::move(done).failure();
  }
  return answer_status("deleted");
}

// A member under its name or its older one.
sdk::Result<json::value> either(const json::object& entry, const char* name, const char* older,
                                size_t i) {
  for (const char* key : {name, older}) {
    if (const json::value* v = entry.if_contains(key)) return *v;
  }
  return wrong(std::string(name) + " is missing",
               "/entries/" + std::to_string(i) + "/" + std::string(name),
               "each entry names source and destination");
}

}  // namespace

json::object entry_of(const json::object& item) {
  std::string kind(json::text(item, "kind", "other"));
  if (kind == "folder") kind = "directory";
  const int64_t modified = json::integer(item, "modified_ms");
  json::object out;
  out["path"] = std::string(json::text(item, "path"));
  out["type"] = kind;
  out["mode"] = mode_digits(json::integer(item, "mode"));
  out["owner"] = name_of(item, "owner");
  out["group"] = name_of(item, "group");
  out["size"] = json::integer(item, "size");
  out["modified_at"] = date_time(modified);
  // Not every file system knows when a file was made.
  out["created_at"] = date_time(json::integer(item, "created_ms", modified));
  return out;
}

sdk::Result<json::array> entries_of(sdk::Call& call, const char* operation,
                                    const json::object& args, json::object& told) {
  json::array out;
  auto done = sdk::Operation(operation)
                  .args(json::print(args))
                  .on_item([&](std::string_view item) -> sdk::Status {
                    auto one = json::parse_object(item);
                    if (!one) return std::move(one).failure();
                    out.push_back(entry_of(*one));
                    return {};
                  })
                  .run(call);
  if (!done) return std::move(done).failure();
  auto parsed = json::parse_object(*done);
  if (!parsed) return std::move(parsed).failure();
  told = *std::move(parsed);
  return out;
}

sdk::Result<sdk::ToolResult> file_delete(Request& request) {
  return on_paths(request, "sandbox.remove_files");
}

sdk::Result<sdk::ToolResult> file_delete_directories(Request& request) {
  return on_paths(request, "sandbox.remove_folders");
}

sdk::Result<sdk::ToolResult> file_search(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::object told;
  auto found = entries_of(request.call, "sandbox.search_files",
                          {{"sandbox", *id},
                           {"path", request.text("path")},
                           {"pattern", request.text("pattern")}},
                          told);
  if (!found) return std::move(found).failure();
  auto result = answer_list(*found);
  if (result && json::boolean(told, "truncated")) {
    result->meta(R"({"bulkhead/truncated":true})");
  }
  return result;
}

sdk::Result<sdk::ToolResult> file_create_directories(Request& request) {
  json::array folders;
  const json::array& entries = request.args.at("entries").get_array();
  for (size_t i = 0; i < entries.size(); ++i) {
    const json::object& entry = entries[i].get_object();
    auto mode =
        mode_bits(json::integer(entry, "mode", 755), "/entries/" + std::to_string(i) + "/mode");
    if (!mode) return std::move(mode).failure();
    json::object folder{{"path", entry.at("path")}};
    if (*mode) folder["mode"] = **mode;
    for (const char* key : {"owner", "group"}) {
      const json::value* v = entry.if_contains(key);
      if (v != nullptr && v->is_string()) folder[key] = *v;
    }
    folders.push_back(std::move(folder));
  }
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  if (!folders.empty()) {
    auto made = operate(request.call, "sandbox.make_folders",
                        {{"sandbox", *id}, {"entries", std::move(folders)}});
    if (!made) return std::move(made).failure();
  }
  return answer_status("created");
}

sdk::Result<sdk::ToolResult> file_move(Request& request) {
  json::array moves;
  const json::array& entries = request.args.at("entries").get_array();
  for (size_t i = 0; i < entries.size(); ++i) {
    const json::object& entry = entries[i].get_object();
    auto from = either(entry, "source", "src", i);
    if (!from) return std::move(from).failure();
    auto to = either(entry, "destination", "dest", i);
    if (!to) return std::move(to).failure();
    moves.push_back(json::object{{"from", *from}, {"to", *to}});
  }
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  if (!moves.empty()) {
    auto moved = operate(request.call, "sandbox.move_files",
                         {{"sandbox", *id}, {"moves", std::move(moves)}});
    if (!moved) return std::move(moved).failure();
  }
  return answer_status("moved");
}

}  // namespace toolset_sandbox
