// files.export and .import: between the file store and a sandbox, of any size in bounded memory.
#include "core/pipe.h"
#include "files/path.h"
#include "operations/catalogue.h"
#include "operations/file_args.h"
#include "operations/rooms.h"
#include "sandbox/files.h"

namespace bh {
namespace {

Result<void> export_file(Call& call, const Arguments& args) {
  const std::string path(json::get_string(args.values, "path"));
  BH_TRY(check_store_path(path, "/path"));
  Files& files = rooms_of(call).files;
  // Before a sandbox is made for it, and before anything is written there.
  auto stored = files.stat(call, path);
  if (!stored) return tl::unexpected(std::move(stored).error());
  auto inside = files_of(call, args.values);
  if (!inside) return tl::unexpected(std::move(inside).error());
  auto to = path_of(*inside, args.values.at("to"), "/to");
  if (!to) return tl::unexpected(std::move(to).error());
  SandboxFileAccess access;
  if (args.values.contains("mode")) {
    access.mode = static_cast<std::uint32_t>(json::get_int(args.values, "mode"));
  }
  std::int64_t size = 0;
  BH_TRY(pipe_through(
      call,
      [&](Sink& sink) -> Result<void> {
        auto read = files.read(call, path, 0, -1, sink);
        if (!read) return tl::unexpected(std::move(read).error());
        size = read->size;
        return {};
      },
      [&](Input& bytes) -> Result<void> {
        auto written = inside->write(call, *to, BH_FILE_PARENTS, access, bytes);
        if (!written) return tl::unexpected(about(std::move(written).error(), "/to", *to));
        return {};
      }));
  return call.set_result(json::print(json::object{
      {"path", path}, {"sandbox", inside->sandbox().id}, {"to", bytes_value(*to)}, {"size", size}}));
}

Result<void> import_file(Call& call, const Arguments& args) {
  const std::string path(json::get_string(args.values, "path"));
  BH_TRY(check_store_path(path, "/path"));
  Files& files = rooms_of(call).files;
  auto inside = files_of(call, args.values);
  if (!inside) return tl::unexpected(std::move(inside).error());
  auto from = path_of(*inside, args.values.at("from"), "/from");
  if (!from) return tl::unexpected(std::move(from).error());
  StoreWritten written;
  BH_TRY(pipe_through(
      call,
      [&](Sink& sink) -> Result<void> {
        auto read = inside->read(call, *from, 0, -1, sink);
        if (!read) return tl::unexpected(about(std::move(read).error(), "/from", *from));
        return {};
      },
      [&](Input& bytes) -> Result<void> {
        StoreWrite what;
        what.if_etag = json::get_string(args.values, "if_etag");
        what.media_type = json::get_string(args.values, "media_type");
        what.input = &bytes;
        auto done = files.write(call, path, what);
        if (!done) return tl::unexpected(std::move(done).error());
        written = std::move(*done);
        return {};
      }));
  return call.set_result(json::print(json::object{{"path", path},
                                                  {"sandbox", inside->sandbox().id},
                                                  {"from", bytes_value(*from)},
                                                  {"size", written.size},
                                                  {"etag", written.etag}}));
}

}  // namespace

void add_files_transfer_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "files.export";
  spec.summary = "Copies one of the persona's stored files into a sandbox.";
  spec.args_schema =
      std::string(R"({"type":"object","required":["path","to"],"properties":{)") + kPlaceProperties +
      R"(,"path":{"type":"string","description":"In the file store."},"to":)" + kBytesSchema +
      R"(,"mode":{"type":"integer","minimum":0,"maximum":4095,"description":"Permission bits."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"path":{"type":"string"},"sandbox":{"type":"string"},"to":{"type":"string"},"size":{"type":"integer"}}})";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "file_changed",
                  "file_denied",           "file_not_found",      "files_unsupported",
                  "is_folder",             "no_space",            "path_invalid",
                  "read_only",             "sandbox_not_found",   "store_unavailable",
                  "workspace_refused"};
  spec.run = export_file;
  add(std::move(spec));

  spec = {};
  spec.name = "files.import";
  spec.summary = "Stores a file of a sandbox, all or nothing, in place of what the persona had there.";
  spec.args_schema =
      std::string(R"({"type":"object","required":["from","path"],"properties":{)") + kPlaceProperties +
      R"(,"from":)" + kBytesSchema +
      R"(,"path":{"type":"string","description":"In the file store."},"media_type":{"type":"string","maxLength":255},)"
      R"("if_etag":{"type":"string","minLength":1,"description":"Only in place of that version; \"*\": only where there is none."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"path":{"type":"string"},"sandbox":{"type":"string"},"from":{"type":"string"},"size":{"type":"integer"},"etag":{"type":"string"}}})";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "etag_mismatch",
                  "file_denied",           "file_exists",         "file_not_found",
                  "files_unsupported",     "is_folder",           "path_invalid",
                  "quota",                 "sandbox_not_found",   "store_unavailable",
                  "workspace_refused"};
  spec.run = import_file;
  add(std::move(spec));
}

}  // namespace bh
