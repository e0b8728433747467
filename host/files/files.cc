#include "files/files.h"

#include <utility>

#include "base/json.h"
#include "files/path.h"
#include "files/quota.h"

namespace bh {
namespace {

constexpr char kField[] = "/path";

void replace_all(std::string& text, const std::string& what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Stores have words of their own; callers get the same ones from all, and see their own paths.
Error explained(Error error, const std::string& stored, std::string_view path) {
  json::object details;
  if (auto told = json::parse_object(error.details)) details = std::move(*told);
  switch (error.code) {
    case BH_NOT_FOUND:
      error.message = "there is no file " + json::quote(path);
      details["reason"] = "file_not_found";
      details["field"] = kField;
      details["remedy"] = "files.list names those that there are";
      break;
    case BH_ALREADY_EXISTS:
      details["reason"] = "file_exists";
      break;
    case BH_ABORTED:
      if (json::get_string(details, "field").find("if_etag") != std::string_view::npos ||
          !details.contains("reason")) {
        details["reason"] = "etag_mismatch";
      }
      break;
    default:
      break;
  }
  replace_all(error.message, json::quote(stored), json::quote(path));
  if (details.empty()) return error;
  std::string field(json::get_string(details, "field"));
  if (!field.empty() && field[0] != '/') details["field"] = "/" + field;
  error.details = json::print(details);
  return error;
}

bool has_reason(const Error& error, std::string_view word) {
  auto details = json::parse_object(error.details);
  return details && json::get_string(*details, "reason") == word;
}

// The bytes of a read go on; what else a store says meanwhile does not.
class BytesAlone final : public NullSink {
 public:
  explicit BytesAlone(Sink& to) : to_(to) {}
  bh_status emit(Call& from, int stream, std::string_view bytes) override {
    return to_.emit(from, stream, bytes);
  }

 private:
  Sink& to_;
};

}  // namespace

Files::Files(const DataRoot& root, const FilesSettings& settings, Stores& stores)
    : root_(root), settings_(settings), stores_(stores) {}

Result<Files::Place> Files::place(Call& up, std::string_view path, bool may_be_empty) {
  BH_TRY(check_store_path(path, kField, may_be_empty));
  Place out;
  auto area = stored_path(up.session(), {});
  if (!area) return tl::unexpected(std::move(area).error());
  auto whole = stored_path(up.session(), path);
  if (!whole) return tl::unexpected(std::move(whole).error());
  auto store = stores_.get(up);
  if (!store) return tl::unexpected(std::move(store).error());
  out.store = std::move(*store);
  out.area = std::move(*area);
  out.path = std::move(*whole);
  return out;
}

Result<StoredFile> Files::stat(Call& up, std::string_view path) {
  auto at = place(up, path);
  if (!at) return tl::unexpected(std::move(at).error());
  auto found = at->store->stat(up, at->path);
  if (!found) return tl::unexpected(explained(std::move(found).error(), at->path, path));
  return found;
}

Result<Files::Listing> Files::list(Call& up, std::string_view path, bool recursive,
                                   const std::string& after, std::int64_t limit, const Each& each) {
  auto at = place(up, path, true);
  if (!at) return tl::unexpected(std::move(at).error());
  Listing out;
  std::string last;
  bh_status said = BH_OK;
  auto listed = at->store->list(up, at->path, recursive, after, [&](const StoredFile& file) {
    if (out.count == limit) {
      out.next = last;
      return false;
    }
    last = file.name;
    said = each(file);
    out.count++;
    return said == BH_OK;
  });
  if (said != BH_OK) return tl::unexpected(stop_error(said));
  if (!listed && path.empty() && listed.error().code == BH_NOT_FOUND) return Listing();
  if (!listed) return tl::unexpected(explained(std::move(listed).error(), at->path, path));
  return out;
}

Result<StoredFile> Files::read(Call& up, std::string_view path, std::int64_t offset,
                               std::int64_t size, Sink& sink) {
  auto at = place(up, path);
  if (!at) return tl::unexpected(std::move(at).error());
  auto before = at->store->stat(up, at->path);
  if (!before) return tl::unexpected(explained(std::move(before).error(), at->path, path));
  if (before->kind == BH_FILE_DIRECTORY) {
    return fail(BH_FAILED_PRECONDITION, json::quote(path) + " is a folder", "is_folder",
                {{"field", kField}, {"remedy", "name a file in it; files.list names them"}});
  }
  if (offset >= before->size || size == 0) return before;
  BytesAlone bytes(sink);
  auto done = at->store->read(up, at->path, offset, size, bytes);
  if (!done) return tl::unexpected(explained(std::move(done).error(), at->path, path));
  // The bytes were those of one version. Which one is sure where it did not change meanwhile.
  auto after = at->store->stat(up, at->path);
  if (!after && after.error().code != BH_NOT_FOUND) {
    return tl::unexpected(explained(std::move(after).error(), at->path, path));
  }
  if (!after || after->etag != before->etag) {
    return fail(BH_ABORTED, json::quote(path) + " was replaced while it was read", "file_changed",
                {{"field", kField}, {"remedy", "read it again"}});
  }
  return before;
}

Result<StoreWritten> Files::write(Call& up, std::string_view path, const StoreWrite& what) {
  auto at = place(up, path);
  if (!at) return tl::unexpected(std::move(at).error());
  Quota quota(root_, *at->store, settings_.max_bytes, at->area, at->path);
  Result<StoreWritten> written = StoreWritten();
  if (settings_.max_bytes == 0) {
    written = at->store->write(up, at->path, what);
  } else if (what.input == nullptr) {
    BH_TRY(quota.settle(up, static_cast<std::int64_t>(what.data.size())));
    written = at->store->write(up, at->path, what);
  } else {
    BH_TRY(quota.begin(up));
    QuotaInput input(*what.input, quota);
    StoreWrite counted = what;
    counted.input = &input;
    written = at->store->write(up, at->path, counted);
  }
  if (written) return written;
  Error error = std::move(written).error();
  if (has_reason(error, "quota")) return tl::unexpected(std::move(error));
  return tl::unexpected(explained(std::move(error), at->path, path));
}

Result<void> Files::remove(Call& up, std::string_view path, bool recursive) {
  auto at = place(up, path);
  if (!at) return tl::unexpected(std::move(at).error());
  auto done = at->store->remove(up, at->path, recursive);
  if (!done) return tl::unexpected(explained(std::move(done).error(), at->path, path));
  return {};
}

}  // namespace bh
