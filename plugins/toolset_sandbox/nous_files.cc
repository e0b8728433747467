#include "nous_files.h"

#include <bulkhead/sdk/text.hpp>
#include <utility>

#include "encoding.h"
#include "file_content.h"

namespace toolset_sandbox {

namespace {

constexpr size_t kMostText = 8192;
constexpr size_t kMostImage = 2u << 20;
constexpr size_t kMostListed = 10000;

const char* image_type(std::string_view path) {
  struct Type {
    std::string_view ending;
    const char* type;
  };
  static constexpr Type kTypes[] = {{".png", "image/png"},   {".jpg", "image/jpeg"},
                                    {".jpeg", "image/jpeg"}, {".gif", "image/gif"},
                                    {".webp", "image/webp"}};
  std::string lower(path);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  for (const Type& one : kTypes) {
    if (lower.size() > one.ending.size() &&
        lower.compare(lower.size() - one.ending.size(), std::string::npos, one.ending) == 0) {
      return one.type;
    }
  }
  return nullptr;
}

sdk::Result<json::object> list(Request& request, const std::string& path) {
  auto files = listed_files(request.call, {}, path.empty() ? "." : path, kMostListed);
  if (!files) return std::move(files).failure();
  return json::object{{"ok", true}, {"files", *std::move(files)}};
}

sdk::Result<json::object> read(Request& request, const std::string& path) {
  const char* image = image_type(path);
  const size_t most = image != nullptr ? kMostImage : kMostText;
  json::object told;
  json::object args{{"path", path}};
  // An image is of use as a whole only: a larger one fails.
  if (image == nullptr) args["size"] = most;
  auto bytes = read_bytes(request.call, args, most, told);
  if (!bytes) return std::move(bytes).failure();
  const int64_t size = json::integer(told, "size", static_cast<int64_t>(bytes->size()));
  json::object out{{"ok", true}};
  if (image != nullptr) {
    out["content_type"] = image;
    out["content_base64"] = to_base64(*bytes);
    out["size"] = size;
    return out;
  }
  const bool truncated = size > static_cast<int64_t>(bytes->size());
  std::string_view text = *bytes;
  if (truncated) {
    // A character that the limit cuts in two is left out.
    size_t end = text.size();
    while (end > 0 && text.size() - end < 3 &&
           (static_cast<unsigned char>(text[end - 1]) & 0xC0u) == 0x80u) {
      --end;
    }
    if (end > 0 && static_cast<unsigned char>(text[end - 1]) >= 0xC0u &&
        sdk::detail::utf8_length(text.substr(end - 1)) == 0) {
      text = text.substr(0, end - 1);
    }
  }
  out["content"] = sdk::to_utf8(text);
  if (truncated) out["truncated"] = true;
  out["total_bytes"] = size;
  return out;
}

sdk::Result<json::object> write(Request& request, const std::string& path, bool append) {
  if (!request.has("content")) return wrong("content is missing", "/content");
  const std::string content = request.text("content");
  json::object args{{"path", path}};
  if (append) args["append"] = true;
  auto done = sdk::Operation("sandbox.write_file")
                  .args(json::print(args))
                  .input(content)
                  .run(request.call);
  if (!done) return std::move(done).failure();
  return json::object{{"ok", true},
                      {"path", path},
                      {"stdout", std::to_string(content.size()) + " bytes " +
                                     (append ? "appended" : "written")}};
}

sdk::Result<json::object> remove(Request& request, const std::string& path) {
  const json::object args{{"paths", json::array{path}}, {"missing_ok", false}};
  auto done = operate(request.call, "sandbox.remove_files", args);
  if (!done) {
    auto details = json::parse_object(done.failure().details());
    const bool folder = details && json::text(*details, "reason") == "is_folder";
    if (folder) done = operate(request.call, "sandbox.remove_folders", args);
  }
  if (!done) return std::move(done).failure();
  return json::object{{"ok", true}, {"path", path}};
}

sdk::Result<json::object> act(Request& request) {
  const std::string operation = request.text("operation");
  const std::string path = request.text("path");
  if (operation == "list") return list(request, path);
  if (path.empty()) return wrong("path is missing", "/path");
  if (operation == "read") return read(request, path);
  if (operation == "delete") return remove(request, path);
  return write(request, path, operation == "append");
}

}  // namespace

sdk::Result<json::array> listed_files(sdk::Call& call, const std::string& sandbox,
                                      const std::string& path, size_t most) {
  json::array out;
  json::object args{{"path", path}};
  if (!sandbox.empty()) args["sandbox"] = sandbox;
  auto done = sdk::Operation("sandbox.list_files")
                  .args(json::print(args))
                  .on_item([&](std::string_view item) -> sdk::Status {
                    auto one = json::parse_object(item);
                    if (!one) return std::move(one).failure();
                    if (out.size() >= most) return {};
                    out.push_back(
                        json::object{{"name", std::string(json::text(*one, "name"))},
                                     {"path", std::string(json::text(*one, "path"))},
                                     {"is_dir", json::text(*one, "kind") == "folder"},
                                     {"size", json::integer(*one, "size")}});
                    return {};
                  })
                  .run(call);
  if (!done) return std::move(done).failure();
  return out;
}

// What did not work is said in the answer, as Nous has it; what stopped the call is not.
sdk::Result<sdk::ToolResult> sandbox_files(Request& request) {
  auto done = act(request);
  if (done) return answer(*done);
  const sdk::Failure& why = done.failure();
  if (why.code() == BH_CANCELLED || why.code() == BH_DEADLINE_EXCEEDED || why.message().empty()) {
    return why;
  }
  auto result = answer(json::object{{"ok", false}, {"error", why.message()}});
  if (!result) return result;
  // The same place and shape in which MCP clients find every other fault.
  json::object fault{{"code", std::string(sdk::code_name(why.code()))}, {"message", why.message()}};
  if (auto details = json::parse_object(why.details())) fault["details"] = *std::move(details);
  result->meta(json::print(json::object{{"bulkhead/fault", std::move(fault)}}));
  result->error();
  return result;
}

}  // namespace toolset_sandbox
