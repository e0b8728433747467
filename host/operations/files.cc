// files.put, .get, .stat, .list and .delete: the persona's own files in the file store.
#include "files/path.h"
#include "operations/catalogue.h"
#include "operations/content.h"
#include "operations/rooms.h"

namespace bh {
namespace {

std::string_view kind_word(int kind) {
  switch (kind) {
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

json::value or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object described(const std::string& path, const StoredFile& file) {
  json::object out;
  out["path"] = path;
  out["kind"] = json::string(kind_word(file.kind));
  out["size"] = file.size;
  out["etag"] = or_null(file.etag);
  out["media_type"] = or_null(file.media_type);
  out["modified_ms"] = file.modified_ns / 1'000'000;
  return out;
}

std::string path_of(const Arguments& args) {
  return std::string(json::get_string(args.values, "path"));
}

Result<void> put(Call& call, const Arguments& args) {
  const std::string path = path_of(args);
  BH_TRY(check_store_path(path, "/path"));
  Content content;
  BH_TRY(take_content(call, args, content));
  StoreWrite what;
  what.if_etag = json::get_string(args.values, "if_etag");
  what.media_type = json::get_string(args.values, "media_type", content.media_type);
  what.data = content.data;
  what.input = content.input;
  auto written = rooms_of(call).files.write(call, path, what);
  if (!written) return tl::unexpected(std::move(written).error());
  return call.set_result(json::print(
      json::object{{"path", path}, {"size", written->size}, {"etag", written->etag}}));
}

Result<void> get(Call& call, const Arguments& args) {
  const std::string path = path_of(args);
  const std::int64_t offset = json::get_int(args.values, "offset");
  DataSink sink(call, json::get_bool(args.values, "collect"));
  auto read = rooms_of(call).files.read(call, path, offset, json::get_int(args.values, "size", -1),
                                        sink);
  if (!read) return tl::unexpected(std::move(read).error());
  json::object out = described(path, *read);
  out["offset"] = offset;
  sink.tell(out);
  return call.set_result(json::print(out));
}

Result<void> stat(Call& call, const Arguments& args) {
  const std::string path = path_of(args);
  auto found = rooms_of(call).files.stat(call, path);
  if (!found) return tl::unexpected(std::move(found).error());
  return call.set_result(json::print(described(path, *found)));
}

Result<void> list(Call& call, const Arguments& args) {
  const std::string path = path_of(args);
  const std::string before = path.empty() ? path : path + "/";
  auto listed = rooms_of(call).files.list(
      call, path, json::get_bool(args.values, "recursive"),
      std::string(json::get_string(args.values, "after")), json::get_int(args.values, "limit", 1000),
      [&](const StoredFile& file) {
        return call.item(json::print(described(before + file.name, file)));
      });
  if (!listed) return tl::unexpected(std::move(listed).error());
  return call.set_result(
      json::print(json::object{{"count", listed->count}, {"next", or_null(listed->next)}}));
}

Result<void> remove(Call& call, const Arguments& args) {
  const std::string path = path_of(args);
  BH_TRY(rooms_of(call).files.remove(call, path, json::get_bool(args.values, "recursive")));
  return call.set_result(json::print(json::object{{"path", path}}));
}

constexpr char kPath[] =
    R"("path":{"type":"string","description":"Relative: parts between single slashes, none of them . or .."})";
constexpr char kFileMembers[] =
    R"("path":{"type":"string"},"kind":{"enum":["file","folder","symlink","other"]},"size":{"type":"integer"},"etag":{"type":["string","null"]},"media_type":{"type":["string","null"]},"modified_ms":{"type":"integer"})";

}  // namespace

void add_files_operations(const AddOperation& add) {
  const std::string path = kPath;
  const std::string file = kFileMembers;
  OperationSpec spec;
  spec.name = "files.put";
  spec.summary = "Stores one of the persona's files, all or nothing, in place of what it had there.";
  spec.args_schema =
      R"({"type":"object","required":["path"],"properties":{)" + path + R"(,"content":)" +
      kContentSchema +
      R"(,"media_type":{"type":"string","maxLength":255},"if_etag":{"type":"string","minLength":1,"description":"Only in place of that version; \"*\": only where there is none."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"path":{"type":"string"},"size":{"type":"integer"},"etag":{"type":"string"}}})";
  spec.input = kContentInput;
  spec.reasons = {"etag_mismatch", "file_exists",  "is_folder",
                  "not_a_folder",  "path_invalid", "quota",
                  "store_unavailable"};
  spec.run = put;
  add(std::move(spec));

  spec = {};
  spec.name = "files.get";
  spec.summary = "Reads one of the persona's files, or a part of it.";
  spec.args_schema =
      R"({"type":"object","required":["path"],"properties":{)" + path +
      R"(,"offset":{"type":"integer","minimum":0},"size":{"type":"integer","minimum":0,"description":"Without it: to the end."},)"
      R"("collect":{"type":"boolean","description":"The bytes go into the result, 256 KiB of head and tail, instead of being streamed."}}})";
  spec.result_schema = R"({"type":"object","properties":{)" + file +
                       R"(,"offset":{"type":"integer"},"sent":{"type":"integer"},"content":{"type":"object","description":"{text or base64, bytes, missing}, with collect."}}})";
  spec.output = "the bytes on stream 3 (data)";
  spec.repeatable = true;
  spec.reasons = {"file_changed", "file_not_found", "is_folder", "path_invalid", "store_unavailable"};
  spec.run = get;
  add(std::move(spec));

  spec = {};
  spec.name = "files.stat";
  spec.summary = "Tells what one of the persona's files or folders is.";
  spec.args_schema =
      R"({"type":"object","required":["path"],"properties":{)" + path + "}}";
  spec.result_schema = R"({"type":"object","properties":{)" + file + "}}";
  spec.repeatable = true;
  spec.reasons = {"file_not_found", "path_invalid", "store_unavailable"};
  spec.run = stat;
  add(std::move(spec));

  spec = {};
  spec.name = "files.list";
  spec.summary = "Lists the persona's files, or those of one folder, by name.";
  spec.args_schema =
      R"({"type":"object","properties":{"path":{"type":"string","description":"A folder; without it, all that the persona has."},)"
      R"("recursive":{"type":"boolean"},"after":{"type":"string","maxLength":1024,"description":"Begins behind that name: `next` of the page before."},)"
      R"("limit":{"type":"integer","minimum":1,"maximum":100000,"default":1000}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"count":{"type":"integer"},"next":{"type":["string","null"],"description":"`after` of the next page; null: there is none."}}})";
  spec.output = "items {path, kind, size, etag, media_type, modified_ms}";
  spec.repeatable = true;
  spec.reasons = {"file_not_found", "not_a_folder", "path_invalid", "store_unavailable"};
  spec.run = list;
  add(std::move(spec));

  spec = {};
  spec.name = "files.delete";
  spec.summary = "Deletes one of the persona's files, or a folder with all that it holds.";
  spec.args_schema = R"({"type":"object","required":["path"],"properties":{)" + path +
                     R"(,"recursive":{"type":"boolean","description":"A folder that is not empty, too."}}})";
  spec.result_schema = R"({"type":"object","properties":{"path":{"type":"string"}}})";
  spec.reasons = {"file_not_found", "not_empty", "path_invalid", "store_unavailable"};
  spec.run = remove;
  add(std::move(spec));
}

}  // namespace bh
