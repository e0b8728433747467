#include "operations/file_args.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "operations/catalogue.h"
#include "operations/rooms.h"
#include "operations/wish.h"

namespace bh {

const char kBytesSchema[] =
    R"({"anyOf":[{"type":"string"},{"type":"object","required":["base64"],"properties":{"base64":{"type":"string"}},"additionalProperties":false}]})";

const char kAccessProperties[] =
    R"("mode":{"type":"integer","minimum":0,"maximum":4095,"description":"Permission bits: 420 is 0644."},"owner":{"type":"string"},"group":{"type":"string"})";

const char kFileItem[] =
    "{path, name, kind (file, folder, symlink or other), size, modified_ms, created_ms, mode, owner, "
    "group}, with target for a symlink";

const char kPlaceProperties[] =
    R"("sandbox":{"type":"string","description":"Without it: the persona's default sandbox of the shape that backend, profile and workspace give."},"backend":{"type":"string"},"workspace":{"type":"string"},"profile":{"type":"object","additionalProperties":true,"description":"As of sandbox.create."})";

Result<SandboxFiles> files_of(Call& call, const json::object& args) {
  Sandboxes& sandboxes = rooms_of(call).sandboxes;
  if (!args.contains("sandbox")) {
    if (const json::value* profile = args.if_contains("profile")) {
      const Catalogue::Entry* plan = catalogue().find("sandbox.plan");
      auto schema = plan->args();
      if (!schema) return tl::unexpected(std::move(schema).error());
      BH_TRY((*schema)->check(json::object{{"profile", *profile}}));
    }
    auto own = sandboxes.use_default(call, wish_of(args));
    if (!own) return tl::unexpected(std::move(own).error());
    // Files need no lease: it is given back here.
    return SandboxFiles::of(own->sandbox());
  }
  for (std::string_view key : {"backend", "profile", "workspace"}) {
    if (!args.contains(key)) continue;
    return fail(BH_INVALID_ARGUMENT,
                std::string(key) + " belongs to a new sandbox; with \"sandbox\" it is settled already",
                "schema", {{"field", "/" + std::string(key)}});
  }
  auto named = sandboxes.get(call, std::string(json::get_string(args, "sandbox")));
  if (!named) return tl::unexpected(std::move(named).error());
  return SandboxFiles::of(std::move(*named));
}

Result<std::string> bytes_of(const json::value& value, const std::string& field) {
  if (value.is_string()) return std::string(std::string_view(value.get_string()));
  auto decoded = base64::decode(json::get_string(value.get_object(), "base64"));
  if (!decoded) return tl::unexpected(about(std::move(decoded).error(), field, {}));
  return decoded;
}

Result<std::string> path_of(const SandboxFiles& files, const json::value& value,
                            const std::string& field) {
  auto bytes = bytes_of(value, field);
  if (!bytes) return bytes;
  if (bytes->empty() || bytes->find('\0') != std::string::npos) {
    return fail(BH_INVALID_ARGUMENT,
                field + (bytes->empty() ? " is empty" : " holds a NUL byte, which no path can"),
                "path_invalid",
                {{"field", field},
                 {"remedy", "name a file from / on, or relative to the workspace"}});
  }
  return files.path(*bytes);
}

json::value bytes_value(const std::string& bytes) {
  if (utf8::valid(bytes)) return json::string(bytes);
  return json::object{{"base64", base64::encode(bytes)}};
}

SandboxFileAccess access_of(const json::object& args) {
  SandboxFileAccess access;
  if (args.contains("mode")) access.mode = static_cast<std::uint32_t>(json::get_int(args, "mode"));
  access.owner = json::get_string(args, "owner");
  access.group = json::get_string(args, "group");
  return access;
}

Error about(Error error, const std::string& field, const std::string& path, std::int64_t done) {
  json::object details;
  if (auto told = json::parse_object(error.details)) details = std::move(*told);
  if (!field.empty()) details["field"] = field;
  if (!path.empty()) {
    details["path"] = bytes_value(path);
    error.message = utf8::repair(path) + ": " + error.message;
  }
  if (done >= 0) details["done"] = done;
  error.details = json::print(details);
  return error;
}

std::string_view kind_of(const SandboxFile& file) {
  switch (file.kind) {
    case BH_FILE_REGULAR:
      return "file";
    case BH_FILE_DIRECTORY:
      return "folder";
    case BH_FILE_SYMLINK:
      return "symlink";
    default:
      return "other";
  }
}

json::object file_item(const SandboxFile& file, const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::string whole = end == std::string::npos ? "/" : path.substr(0, end + 1);
  const std::string name = whole == "/" ? whole : whole.substr(whole.rfind('/') + 1);
  json::object item;
  item["path"] = bytes_value(whole);
  item["name"] = bytes_value(name);
  item["kind"] = json::string(kind_of(file));
  item["size"] = file.size;
  item["modified_ms"] = file.modified_ns / 1'000'000;
  item["created_ms"] =
      file.created_ns < 0 ? json::value(nullptr) : json::value(file.created_ns / 1'000'000);
  item["mode"] = file.mode;
  item["owner"] = bytes_value(file.owner);
  item["group"] = bytes_value(file.group);
  if (file.kind == BH_FILE_SYMLINK) item["target"] = bytes_value(file.target);
  return item;
}

}  // namespace bh
