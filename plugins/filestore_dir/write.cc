#include <vector>

#include "about.h"
#include "store.h"
#include "upload.h"
#include "usage.h"

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

namespace {

// What has the name now.
struct Target {
  bool there = false;
  struct stat about {};
};

sdk::Result<Target> look(const Place& place, const std::string& path) {
  Target out;
  const Fd fd = open_beneath(place.files(), path, O_PATH);
  if (!fd && errno == ENOENT) return out;
  if (!fd && errno == ENOTDIR) {
    return failure(BH_FAILED_PRECONDITION,
                   "a file stands where " + sdk::json_quote(path) + " needs a folder", "not_a_folder",
                   "path", "take another path, or remove that file");
  }
  if (!fd || ::fstat(fd.get(), &out.about) != 0) return system_failure(errno, "write", path);
  if (S_ISDIR(out.about.st_mode)) {
    return failure(BH_FAILED_PRECONDITION, sdk::json_quote(path) + " is a folder", "is_folder",
                   "path", "name a file in it, or remove it with all that it holds");
  }
  if (!S_ISREG(out.about.st_mode)) {
    return failure(BH_FAILED_PRECONDITION,
                   sdk::json_quote(path) + " is neither a file nor a folder", "not_regular", "path",
                   "have the operator take it out of the store's folder");
  }
  out.there = true;
  return out;
}

Status check_etag(std::string_view wanted, const Target& target, std::string_view path) {
  if (wanted.empty() || (wanted == "*" && !target.there)) return {};
  if (wanted == "*") {
    return failure(BH_ALREADY_EXISTS, sdk::json_quote(path) + " is there already", "file_exists",
                   "if_etag", "take another name, or give the etag that it has");
  }
  const std::string has = target.there ? etag_of(target.about) : std::string();
  if (wanted == has) return {};
  sdk::JsonObject details;
  details.text("reason", "etag_mismatch").text("field", "if_etag").text("etag", has);
  details.text("remedy", "read the file again, and write with the etag that it has then");
  return sdk::Failure(BH_ABORTED,
                      sdk::json_quote(path) + (target.there ? " has been changed" : " is not there"),
                      details.str());
}

Status check_count(const Place& place, const Usage& usage, const Target& target) {
  const int64_t limit = place.config().max_files;
  if (target.there || usage.files < limit) return {};
  sdk::JsonObject details;
  details.text("reason", "quota").text("quota", "max_files").number("limit", limit);
  details.text("remedy", "remove files, or have the operator raise max_files");
  return sdk::Failure(
      BH_RESOURCE_EXHAUSTED,
      "the file store takes no more: its limit max_files is " + std::to_string(limit),
      details.str());
}

// The folder to write in, and those above it that got a new entry.
struct Parents {
  Fd folder;
  std::vector<Fd> grown;
};

Status make_folders(const Place& place, const std::string& path, Parents& out) {
  out.folder = open_folder(place.files(), path);
  if (out.folder) return {};
  if (errno != ENOENT) return system_failure(errno, "write in", path);
  Fd at = open_folder(place.files(), "");
  for (size_t from = 0; from <= path.size();) {
    const size_t end = std::min(path.find('/', from), path.size());
    const std::string part = path.substr(from, end - from);
    const bool made = ::mkdirat(at.get(), part.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) return system_failure(errno, "make the folder", path);
    Fd next = open_folder(at.get(), part);
    if (!next) return system_failure(errno, "write in", path);
    if (made) out.grown.push_back(std::move(at));
    at = std::move(next);
    from = end + 1;
  }
  out.folder = std::move(at);
  return {};
}

bool sync_folder(const Fd& folder) {
  return ::fsync(folder.get()) == 0 || errno == EINVAL;  // some file systems sync no folders
}

Status take_input(sdk::Call& call, Upload& upload) {
  constexpr size_t kPiece = size_t{1} << 20;
  const auto buffer = std::make_unique<char[]>(kPiece);
  for (bool ended = false; !ended;) {
    size_t filled = 0;
    while (filled < kPiece && !ended) {
      auto got = call.receive(buffer.get() + filled, kPiece - filled);
      if (!got) return std::move(got).failure();
      ended = *got == 0;
      filled += *got;
    }
    if (auto st = upload.append(call, {buffer.get(), filled}); !st) return st;
  }
  return {};
}

// Whether it may be written as things are: before the bytes come, and again before they count.
sdk::Result<Target> admit(sdk::Call& call, const Place& place, const std::string& path,
                          const sdk::FileWrite& what, Usage& usage) {
  auto target = look(place, path);
  if (!target) return target;
  if (auto st = check_etag(what.if_etag(), *target, path); !st) return std::move(st).failure();
  auto now = Usage::read(call, place);
  if (!now) return std::move(now).failure();
  usage = *now;
  if (auto st = check_count(place, usage, *target); !st) return std::move(st).failure();
  return target;
}

// Under the Lock. The folders that it makes go again when it fails.
Status put(const Place& place, const std::string& path, const Target& target, Usage& usage,
           Upload& upload, Parents& parents) {
  const Split at = split(path);
  Status st = make_folders(place, at.folder, parents);
  if (st) st = usage.begin(place);
  if (st) {
    if (upload.commit(parents.folder.get(), at.name)) {
      usage.bytes += upload.size() - (target.there ? target.about.st_size : 0);
      usage.files += target.there ? 0 : 1;
      if (target.there) forget_media_type(place, target.about);
      // It is written: a record that cannot be is counted anew by the next one.
      (void)usage.finish(place);
      return {};
    }
    st = system_failure(errno, "write", path);
    (void)usage.finish(place);
  }
  prune(place, at.folder);
  return st;
}

Status check_media_type(std::string_view type) {
  bool odd = type.size() > kMaxMediaType;
  for (const char c : type) odd = odd || static_cast<unsigned char>(c) < 0x20;
  if (!odd && sdk::is_utf8(type)) return {};
  return failure(BH_INVALID_ARGUMENT,
                 "the media type has more than 255 bytes, or characters that none has",
                 "media_type", "media_type", "give one such as text/plain, or none");
}

}  // namespace

Status Store::write(sdk::Call& call, std::string_view name, const sdk::FileWrite& what) {
  if (auto st = check_path(name, false); !st) return st;
  if (auto st = check_media_type(what.media_type()); !st) return st;
  const std::string path(name);
  Usage usage;
  {
    auto lock = place_->lock(call);
    if (!lock) return std::move(lock).failure();
    auto target = admit(call, *place_, path, what, usage);
    if (!target) return std::move(target).failure();
  }
  auto upload = Upload::start(call, *place_);
  if (!upload) return std::move(upload).failure();
  if (auto st = what.from_input() ? take_input(call, *upload) : upload->append(call, what.data());
      !st) {
    return st;
  }
  if (auto st = upload->finish(call, what.media_type()); !st) return st;
  Parents parents;
  {
    auto lock = place_->lock(call);
    if (!lock) return std::move(lock).failure();
    auto target = admit(call, *place_, path, what, usage);
    if (!target) return std::move(target).failure();
    if (auto st = put(*place_, path, *target, usage, *upload, parents); !st) return st;
  }
  bool kept = sync_folder(parents.folder);
  for (const Fd& grown : parents.grown) kept = sync_folder(grown) && kept;
  if (!kept) return system_failure(errno, "keep", path);
  return call.result(
      sdk::JsonObject().text("etag", upload->etag()).number("size", upload->size()).str());
}

}  // namespace filestore_dir
