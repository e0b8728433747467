// sandbox.read_file, .write_file, .list_files, .search_files, .file_info: the contents of a sandbox.
#include <algorithm>

#include "base/glob.h"
#include "core/output_keeper.h"
#include "operations/catalogue.h"
#include "operations/file_args.h"

namespace bh {
namespace {

constexpr std::uint32_t kAnyDepth = UINT32_MAX;

// Hands a file's bytes on, or keeps head and tail of them for the result.
class ReadSink final : public PassSink {
 public:
  ReadSink(Call& up, bool collect) : PassSink(up), collect_(collect) {}
  bh_status emit(Call& from, int stream, std::string_view bytes) override {
    sent_ += static_cast<std::int64_t>(bytes.size());
    if (!collect_) return PassSink::emit(from, stream, bytes);
    kept_.append(bytes);
    return from.stop_reason();
  }
  void tell(json::object& result) const {
    result["sent"] = sent_;
    if (collect_) result["content"] = kept_.result();
  }

 private:
  const bool collect_;
  std::int64_t sent_ = 0;
  OutputKeeper kept_;
};

Result<void> read_file(Call& call, const Arguments& args) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  auto path = path_of(*files, args.values.at("path"), "/path");
  if (!path) return tl::unexpected(std::move(path).error());
  auto file = files->stat(call, *path);
  if (!file) return tl::unexpected(about(std::move(file).error(), "/path", *path));
  const std::int64_t offset = json::get_int(args.values, "offset");
  ReadSink sink(call, json::get_bool(args.values, "collect"));
  auto done = files->read(call, *path, offset, json::get_int(args.values, "size", -1), sink);
  if (!done) return tl::unexpected(about(std::move(done).error(), "/path", *path));
  json::object result;
  result["sandbox"] = files->sandbox().id;
  result["path"] = bytes_value(*path);
  result["size"] = file->size;
  result["offset"] = offset;
  result["modified_ms"] = file->modified_ns / 1'000'000;
  result["mode"] = file->mode;
  sink.tell(result);
  return call.set_result(json::print(result));
}

// Passes the call's input through and counts it.
class CountedInput final : public Input {
 public:
  explicit CountedInput(Input& in) : in_(in) {}
  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override {
    bh_status st = in_.receive(call, buffer, size, got);
    if (st == BH_OK) count += static_cast<std::int64_t>(*got);
    return st;
  }
  bh_fd fd() override { return in_.fd(); }
  void end() override { in_.end(); }
  std::int64_t count = 0;

 private:
  Input& in_;
};

Result<void> write_file(Call& call, const Arguments& args) {
  const json::value* content = args.values.if_contains("content");
  if (content != nullptr && !args.blobs.empty()) {
    return fail(BH_INVALID_ARGUMENT, "/content and an attachment are two contents for one file",
                "schema", {{"field", "/content"}, {"remedy", "give one of them"}});
  }
  if (args.blobs.size() > 1) {
    return fail(BH_INVALID_ARGUMENT, "one file takes one attachment", "schema",
                {{"field", "/path"}, {"remedy", "write each file by a call of its own"}});
  }
  const bool append = json::get_bool(args.values, "append");
  std::uint32_t flags = append ? BH_FILE_APPEND : 0;
  if (json::get_bool(args.values, "create_only")) flags |= BH_FILE_NEW;
  if (json::get_bool(args.values, "parents", true)) flags |= BH_FILE_PARENTS;
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  auto path = path_of(*files, args.values.at("path"), "/path");
  if (!path) return tl::unexpected(std::move(path).error());
  const SandboxFileAccess access = access_of(args.values);
  std::int64_t size = 0;
  Result<void> done;
  if (content != nullptr || !args.blobs.empty()) {
    std::string decoded;
    std::string_view bytes;
    if (content == nullptr) {
      bytes = args.blobs[0].data;
    } else if (content->is_string()) {
      bytes = content->get_string();
    } else {
      auto told = bytes_of(*content, "/content");
      if (!told) return tl::unexpected(std::move(told).error());
      decoded = std::move(*told);
      bytes = decoded;
    }
    size = static_cast<std::int64_t>(bytes.size());
    done = files->write(call, *path, flags, access, bytes);
  } else {
    CountedInput counted(call.input());
    done = files->write(call, *path, flags, access, counted);
    size = counted.count;
  }
  if (!done) return tl::unexpected(about(std::move(done).error(), "/path", *path));
  if (append) {
    if (auto now = files->stat(call, *path)) size = now->size;
  }
  return call.set_result(json::print(json::object{
      {"sandbox", files->sandbox().id}, {"path", bytes_value(*path)}, {"size", size}}));
}

// `top` joined with what a listing names below it.
std::string below(const std::string& top, const std::string& name) {
  return top.back() == '/' ? top + name : top + "/" + name;
}

Result<void> list_files(Call& call, const Arguments& args) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  auto path = path_of(*files, args.values.at("path"), "/path");
  if (!path) return tl::unexpected(std::move(path).error());
  std::int64_t count = 0;
  auto done = files->list(call, *path,
                          static_cast<std::uint32_t>(json::get_int(args.values, "depth", 1)),
                          [&](const SandboxFile& file) {
                            count++;
                            return call.item(json::print(file_item(file, below(*path, file.name))));
                          });
  if (!done) return tl::unexpected(about(std::move(done).error(), "/path", *path));
  return call.set_result(json::print(json::object{{"count", count}}));
}

Result<void> search_files(Call& call, const Arguments& args) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  auto path = path_of(*files, args.values.at("path"), "/path");
  if (!path) return tl::unexpected(std::move(path).error());
  const std::string pattern(json::get_string(args.values, "pattern"));
  const Glob glob(pattern);
  const bool whole = pattern.find('/') != std::string::npos;
  const std::int64_t limit = json::get_int(args.values, "limit", 10'000);
  std::int64_t count = 0;
  bool truncated = false;
  auto done = files->list(call, *path, kAnyDepth, [&](const SandboxFile& file) -> bh_status {
    std::string_view name = file.name;
    if (!whole) name.remove_prefix(name.rfind('/') + 1);
    if (file.kind != BH_FILE_REGULAR || !glob.matches(name)) return BH_OK;
    truncated = count == limit;
    if (truncated) return SandboxFiles::kEnough;
    count++;
    return call.item(json::print(file_item(file, below(*path, file.name))));
  });
  if (!done) return tl::unexpected(about(std::move(done).error(), "/path", *path));
  return call.set_result(json::print(json::object{{"count", count}, {"truncated", truncated}}));
}

Result<void> file_info(Call& call, const Arguments& args) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  const bool follow = json::get_bool(args.values, "follow", true);
  auto count = for_each_entry(
      call, args.values, "paths",
      [&](const json::value& entry, const std::string& field) -> Result<void> {
        auto path = path_of(*files, entry, field);
        if (!path) return tl::unexpected(std::move(path).error());
        auto file = files->stat(call, *path, follow);
        if (!file) return tl::unexpected(about(std::move(file).error(), field, *path));
        bh_status st = call.item(json::print(file_item(*file, *path)));
        if (st != BH_OK) return tl::unexpected(stop_error(st));
        return {};
      });
  if (!count) return tl::unexpected(std::move(count).error());
  return call.set_result(json::print(json::object{{"count", *count}}));
}

std::string args_for(const std::string& required, const std::string& properties) {
  return R"({"type":"object","required":[)" + required + R"(],"properties":{)" +
         kPlaceProperties + "," + properties + "}}";
}
std::string path_property() { return std::string(R"("path":)") + kBytesSchema; }

}  // namespace

void add_sandbox_file_operations(const AddOperation& add) {
  const std::vector<std::string> reasons = {
      "file_denied", "file_not_found",    "files_unsupported", "is_folder",         "not_a_file",
      "not_a_folder", "path_invalid", "sandbox_not_found"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), reasons.begin(), reasons.end());
    std::sort(more.begin(), more.end());
    return more;
  };
  OperationSpec spec;
  spec.name = "sandbox.read_file";
  spec.summary =
      "Reads a file, or a part of it. Paths are as a process inside sees them; what is relative "
      "begins in the workspace.";
  spec.args_schema = args_for(
      R"("path")",
      path_property() +
          R"(,"offset":{"type":"integer","minimum":0},"size":{"type":"integer","minimum":0,"description":"Without it: to the end."},"collect":{"type":"boolean","description":"The bytes go into the result, 256 KiB of head and tail, instead of being streamed."})");
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"path":{},"size":{"type":"integer","description":"Of the whole file."},"offset":{"type":"integer"},"sent":{"type":"integer"},"modified_ms":{"type":"integer"},"mode":{"type":"integer"},"content":{"type":"object"}}})";
  spec.output = "stream 3 (data): the bytes";
  spec.repeatable = true;
  spec.reasons = reasons;
  spec.run = read_file;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.write_file";
  spec.summary =
      "Writes a file, whole or not at all (but for append): from content, from the one attachment, "
      "else from the input.";
  spec.args_schema =
      args_for(R"("path")",
             path_property() + R"(,"content":)" + kBytesSchema + "," + kAccessProperties +
                 R"(,"append":{"type":"boolean"},"create_only":{"type":"boolean","description":"Refused where there is one."},"parents":{"type":"boolean","description":"Missing folders are made; true without it."})");
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"path":{},"size":{"type":"integer"}}})";
  spec.input = "the bytes, without content and attachment";
  spec.reasons = with({"file_busy", "file_exists", "no_space", "owner_unsupported", "read_only"});
  spec.run = write_file;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.list_files";
  spec.summary = "Lists what lies in a folder, links not followed.";
  spec.args_schema =
      args_for(R"("path")",
             path_property() +
                 R"(,"depth":{"type":"integer","minimum":1,"maximum":4096,"description":"1: its entries alone."})");
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = std::string("items ") + kFileItem;
  spec.repeatable = true;
  spec.reasons = reasons;
  spec.run = list_files;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.search_files";
  spec.summary = "Finds regular files by pattern below a folder.";
  spec.args_schema = args_for(
      R"("path","pattern")",
      path_property() +
          R"(,"pattern":{"type":"string","minLength":1,"maxLength":1024,"description":"* ? [a-z] [!a-z] within a name, ** across folders. With a / it is matched on the path below `path`, else on the name."},"limit":{"type":"integer","minimum":1,"maximum":1000000})");
  spec.result_schema =
      R"({"type":"object","properties":{"count":{"type":"integer"},"truncated":{"type":"boolean"}}})";
  spec.output = std::string("items ") + kFileItem;
  spec.repeatable = true;
  spec.reasons = reasons;
  spec.run = search_files;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.file_info";
  spec.summary = "Says what each of the files is; one that is missing fails the whole.";
  spec.args_schema =
      args_for(R"("paths")", std::string(R"("paths":{"type":"array","maxItems":10000,"items":)") +
                               kBytesSchema + R"(},"follow":{"type":"boolean","description":"To what a link leads; true without it."})");
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = std::string("items ") + kFileItem;
  spec.repeatable = true;
  spec.reasons = {"file_denied", "file_not_found", "files_unsupported", "not_a_folder",
                  "path_invalid", "sandbox_not_found"};
  spec.run = file_info;
  add(std::move(spec));
}

}  // namespace bh
