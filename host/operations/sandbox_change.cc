// sandbox.move_files, .remove_files, .set_permissions, .replace_in_files, .make_folders and
// .remove_folders: several files or folders of a sandbox in one call, in order, up to the first that
// fails.
#include "operations/catalogue.h"
#include "operations/file_args.h"

namespace bh {
namespace {

constexpr std::size_t kMostReplaced = 64u << 20;

// The common shape: the files, then one entry after the other, then how many there were.
template <class Work>
Result<void> each_of(Call& call, const Arguments& args, const char* key, const char* counted,
                     Work work) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  auto count = for_each_entry(call, args.values, key,
                              [&](const json::value& entry, const std::string& field) {
                                return work(*files, entry, field);
                              });
  if (!count) return tl::unexpected(std::move(count).error());
  return call.set_result(json::print(json::object{{counted, *count}}));
}

Result<void> move_files(Call& call, const Arguments& args) {
  std::uint32_t flags = json::get_bool(args.values, "replace") ? 0 : BH_FILE_NEW;
  if (json::get_bool(args.values, "parents", true)) flags |= BH_FILE_PARENTS;
  return each_of(call, args, "moves", "moved",
                 [&](const SandboxFiles& files, const json::value& entry,
                     const std::string& field) -> Result<void> {
                   const json::object& move = entry.get_object();
                   auto from = path_of(files, move.at("from"), field + "/from");
                   if (!from) return tl::unexpected(std::move(from).error());
                   auto to = path_of(files, move.at("to"), field + "/to");
                   if (!to) return tl::unexpected(std::move(to).error());
                   auto done = files.rename(call, *from, *to, flags);
                   if (done) return {};
                   // Only the target can be in the way; all else is told of the source.
                   const bool target = done.error().code == BH_ALREADY_EXISTS;
                   return tl::unexpected(about(std::move(done).error(),
                                               field + (target ? "/to" : "/from"),
                                               target ? *to : *from));
                 });
}

Result<void> remove_files(Call& call, const Arguments& args) {
  const bool missing_ok = json::get_bool(args.values, "missing_ok", true);
  return each_of(call, args, "paths", "removed",
                 [&](const SandboxFiles& files, const json::value& entry,
                     const std::string& field) -> Result<void> {
                   auto path = path_of(files, entry, field);
                   if (!path) return tl::unexpected(std::move(path).error());
                   auto done = files.remove(call, *path, 0);
                   if (done || (missing_ok && done.error().code == BH_NOT_FOUND)) return {};
                   return tl::unexpected(about(std::move(done).error(), field, *path));
                 });
}

Result<void> remove_folders(Call& call, const Arguments& args) {
  const bool missing_ok = json::get_bool(args.values, "missing_ok", true);
  return each_of(
      call, args, "paths", "removed",
      [&](const SandboxFiles& files, const json::value& entry,
          const std::string& field) -> Result<void> {
        auto path = path_of(files, entry, field);
        if (!path) return tl::unexpected(std::move(path).error());
        auto gone = [&](const Error& e) { return missing_ok && e.code == BH_NOT_FOUND; };
        auto is = files.stat(call, *path, false);
        if (!is && gone(is.error())) return {};
        if (!is) return tl::unexpected(about(std::move(is).error(), field, *path));
        if (is->kind != BH_FILE_DIRECTORY) {
          auto no = fail(BH_FAILED_PRECONDITION,
                         is->kind == BH_FILE_SYMLINK ? "it is a link, not a folder"
                                                     : "it is a file, not a folder",
                         "not_a_folder", {{"remedy", "remove it with sandbox.remove_files"}});
          return tl::unexpected(about(std::move(no).value(), field, *path));
        }
        auto done = files.remove(call, *path, BH_FILE_RECURSIVE);
        if (done || gone(done.error())) return {};
        return tl::unexpected(about(std::move(done).error(), field, *path));
      });
}

Result<void> set_permissions(Call& call, const Arguments& args) {
  return each_of(call, args, "entries", "changed",
                 [&](const SandboxFiles& files, const json::value& entry,
                     const std::string& field) -> Result<void> {
                   auto path = path_of(files, entry.get_object().at("path"), field + "/path");
                   if (!path) return tl::unexpected(std::move(path).error());
                   auto done = files.set_access(call, *path, access_of(entry.get_object()));
                   if (done) return {};
                   return tl::unexpected(about(std::move(done).error(), field + "/path", *path));
                 });
}

Result<void> make_folders(Call& call, const Arguments& args) {
  return each_of(
      call, args, "entries", "made",
      [&](const SandboxFiles& files, const json::value& entry,
          const std::string& field) -> Result<void> {
        auto path = path_of(files, entry.get_object().at("path"), field + "/path");
        if (!path) return tl::unexpected(std::move(path).error());
        auto done =
            files.make_folder(call, *path, BH_FILE_PARENTS, access_of(entry.get_object()));
        if (done) return {};
        return tl::unexpected(about(std::move(done).error(), field + "/path", *path));
      });
}

// Takes a file into memory, up to the most that is edited.
class WholeFile final : public NullSink {
 public:
  bh_status emit(Call& from, int, std::string_view data) override {
    if (bytes.size() + data.size() > kMostReplaced) {
      over = true;
      return BH_OUT_OF_RANGE;
    }
    bytes += data;
    return from.stop_reason();
  }
  std::string bytes;
  bool over = false;
};

std::int64_t count_of(const std::string& bytes, const std::string& old) {
  std::int64_t count = 0;
  for (std::size_t at = bytes.find(old); at != std::string::npos;
       at = bytes.find(old, at + old.size())) {
    count++;
  }
  return count;
}

// A short text that is there often and a long one in its place would be of any size.
bool fits(const std::string& bytes, const std::string& old, const std::string& with,
          std::int64_t count) {
  if (with.size() <= old.size()) return true;
  const std::size_t room = kMostReplaced - std::min(bytes.size(), kMostReplaced);
  return static_cast<std::size_t>(count) <= room / (with.size() - old.size());
}

void replace_all(std::string& bytes, const std::string& old, const std::string& with) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = bytes.find(old, from)) != std::string::npos; from = at + old.size()) {
    out.append(bytes, from, at - from).append(with);
  }
  out.append(bytes, from);
  bytes = std::move(out);
}

Result<void> replace_in_files(Call& call, const Arguments& args) {
  auto files = files_of(call, args.values);
  if (!files) return tl::unexpected(std::move(files).error());
  json::array results;
  auto edit = [&](const json::value& entry, const std::string& field) -> Result<void> {
    const json::object& one = entry.get_object();
    auto path = path_of(*files, one.at("path"), field + "/path");
    if (!path) return tl::unexpected(std::move(path).error());
    auto old = bytes_of(one.at("old"), field + "/old");
    if (!old) return tl::unexpected(std::move(old).error());
    auto with = bytes_of(one.at("new"), field + "/new");
    if (!with) return tl::unexpected(std::move(with).error());
    if (old->empty()) {
      return fail(BH_INVALID_ARGUMENT, field + "/old is empty: it would be found everywhere",
                  "schema", {{"field", field + "/old"}, {"remedy", "name the text to replace"}});
    }
    WholeFile file;
    auto read = files->read(call, *path, 0, -1, file);
    if (file.over) {
      read = fail(BH_RESOURCE_EXHAUSTED, "the file is larger than the 64 MiB that are edited",
                  "too_large",
                  {{"limit", std::to_string(kMostReplaced)}, {"remedy", "edit it with a command"}});
    }
    if (!read) return tl::unexpected(about(std::move(read).error(), field + "/path", *path));
    const std::int64_t count = count_of(file.bytes, *old);
    if (!fits(file.bytes, *old, *with, count)) {
      auto much = fail(BH_RESOURCE_EXHAUSTED,
                       "with " + std::to_string(count) +
                           " replacements the file would be larger than the 64 MiB that are edited",
                       "too_large",
                       {{"limit", std::to_string(kMostReplaced)}, {"remedy", "edit it with a command"}});
      return tl::unexpected(about(std::move(much).value(), field + "/new", *path));
    }
    if (count != 0) {
      replace_all(file.bytes, *old, *with);
      auto written = files->write(call, *path, 0, {}, file.bytes);
      if (!written) {
        return tl::unexpected(about(std::move(written).error(), field + "/path", *path));
      }
    }
    results.push_back(json::object{{"path", bytes_value(*path)}, {"replaced", count}});
    return {};
  };
  auto done = for_each_entry(call, args.values, "edits", edit);
  if (!done) return tl::unexpected(std::move(done).error());
  return call.set_result(json::print(json::object{{"results", std::move(results)}}));
}

std::string args_for(const std::string& key, const std::string& items,
                     const std::string& more = {}) {
  std::string out = R"({"type":"object","required":[)";
  out.append(json::quote(key)).append(R"(],"properties":{)").append(kPlaceProperties);
  out.append(",").append(json::quote(key)).append(R"(:{"type":"array","maxItems":10000,"items":)");
  return out.append(items).append("}").append(more).append("}}");
}
std::string object(const std::string& required, const std::string& properties) {
  std::string out = R"({"type":"object","additionalProperties":false,"required":[)";
  return out.append(required).append(R"(],"properties":{)").append(properties).append("}}");
}
std::string counted(const std::string& key) {
  std::string out = R"({"type":"object","properties":{)";
  return out.append(json::quote(key)).append(R"(:{"type":"integer"}}})");
}
std::string bytes(const std::string& key) { return json::quote(key).append(":") + kBytesSchema; }

constexpr char kMissingOk[] =
    R"(,"missing_ok":{"type":"boolean","description":"What is not there is fine; true without it."})";

}  // namespace

void add_sandbox_change_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "sandbox.move_files";
  spec.summary = "Moves or renames files and folders, in order, up to the first that fails.";
  spec.args_schema = args_for(
      "moves", object(R"("from","to")", bytes("from") + "," + bytes("to")),
      R"(,"replace":{"type":"boolean","description":"Another file may be replaced."},"parents":{"type":"boolean","description":"Missing folders of the new place are made; true without it."})");
  spec.result_schema = counted("moved");
  spec.reasons = {"file_busy",     "file_denied",       "file_exists",  "file_not_found",
                  "files_unsupported", "is_folder",     "no_space",     "not_a_folder",
                  "other_file_system", "path_invalid",  "read_only",    "sandbox_not_found"};
  spec.run = move_files;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.remove_files";
  spec.summary = "Removes files and links, in order, up to the first that fails; folders are refused.";
  spec.args_schema = args_for("paths", kBytesSchema, kMissingOk);
  spec.result_schema = counted("removed");
  spec.repeatable = true;
  spec.reasons = {"file_busy", "file_denied",  "file_not_found", "files_unsupported",
                  "is_folder", "path_invalid", "read_only",      "sandbox_not_found"};
  spec.run = remove_files;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.remove_folders";
  spec.summary = "Removes folders with all that they hold; links in them are removed, not followed.";
  spec.args_schema = args_for("paths", kBytesSchema, kMissingOk);
  spec.result_schema = counted("removed");
  spec.repeatable = true;
  spec.reasons = {"file_busy",    "file_denied", "file_not_found", "files_unsupported",
                  "not_a_folder", "not_empty",   "path_invalid",   "read_only",
                  "sandbox_not_found"};
  spec.run = remove_folders;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.set_permissions";
  spec.summary = "Sets mode, owner or group of files and folders; what is left out stays as it is.";
  spec.args_schema =
      args_for("entries", object(R"("path")", bytes("path") + "," + kAccessProperties));
  spec.result_schema = counted("changed");
  spec.repeatable = true;
  spec.reasons = {"file_denied",  "file_not_found", "files_unsupported", "owner_unsupported",
                  "path_invalid", "read_only",      "sandbox_not_found"};
  spec.run = set_permissions;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.replace_in_files";
  spec.summary =
      "Replaces every occurrence of a text in files of 64 MiB at most; their modes stay.";
  spec.args_schema = args_for(
      "edits",
      object(R"("path","old","new")", bytes("path") + "," + bytes("old") + "," + bytes("new")));
  spec.result_schema =
      R"({"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"path":{},"replaced":{"type":"integer"}}}}}})";
  spec.reasons = {"file_busy",  "file_denied", "file_not_found", "files_unsupported",
                  "is_folder",  "no_space",    "not_a_file",     "path_invalid",
                  "read_only",  "sandbox_not_found", "too_large"};
  spec.run = replace_in_files;
  add(std::move(spec));

  spec = {};
  spec.name = "sandbox.make_folders";
  spec.summary = "Makes folders and what is missing above them; one that is there already is fine.";
  spec.args_schema =
      args_for("entries", object(R"("path")", bytes("path") + "," + kAccessProperties));
  spec.result_schema = counted("made");
  spec.repeatable = true;
  spec.reasons = {"file_denied",  "files_unsupported", "no_space",  "not_a_folder",
                  "owner_unsupported", "path_invalid", "read_only", "sandbox_not_found"};
  spec.run = make_folders;
  add(std::move(spec));
}

}  // namespace bh
