#include <algorithm>

#include "about.h"
#include "store.h"
#include "walk.h"

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

namespace {

constexpr size_t kPiece = size_t{1} << 20;

Status check_kernel() {
  const Fd top(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (open_beneath(top.get(), "", O_PATH | O_DIRECTORY) || errno != ENOSYS) return {};
  return failure(BH_UNAVAILABLE, "this system has no openat2, which file stores need",
                 "backend_unavailable", {}, "use Linux 5.6 or newer, and let seccomp pass openat2");
}

}  // namespace

Status Store::probe(sdk::Call& call, const sdk::Opening& how) {
  auto config = read_config(how);
  if (!config) return std::move(config).failure();
  if (auto st = check_kernel(); !st) return st;
  return call.result(sdk::JsonObject()
                         .text("root", config->root)
                         .number("max_bytes", config->max_bytes)
                         .number("max_file_bytes", config->max_file_bytes)
                         .number("max_files", config->max_files)
                         .str());
}

sdk::Result<std::unique_ptr<Store>> Store::open(sdk::Call& call, const sdk::Opening& how) {
  auto config = read_config(how);
  if (!config) return std::move(config).failure();
  if (auto st = check_kernel(); !st) return std::move(st).failure();
  auto place = Place::open(call, std::move(*config));
  if (!place) return std::move(place).failure();
  return std::make_unique<Store>(std::move(*place));
}

Status Store::stat(sdk::Call&, std::string_view path, const sdk::EachFile& each) {
  if (auto st = check_path(path, true); !st) return st;
  auto entry = open_entry(place_->files(), std::string(path));
  if (!entry) return std::move(entry).failure();
  return tell(*place_, "", *entry, each);
}

Status Store::list(sdk::Call& call, std::string_view path, bool recursive, std::string_view after,
                   const sdk::EachFile& each) {
  if (auto st = check_path(path, true); !st) return st;
  auto entry = open_entry(place_->files(), std::string(path));
  if (!entry) return std::move(entry).failure();
  if (!entry->folder()) {
    return failure(BH_FAILED_PRECONDITION, sdk::json_quote(path) + " is a file", "not_a_folder",
                   "path", "list the folder that it is in, or stat it");
  }
  return Listing(call, *place_, recursive, each).run(entry->fd.get(), "", after, kMaxParts);
}

Status Store::read(sdk::Call& call, std::string_view path, int64_t offset, int64_t size) {
  if (auto st = check_path(path, false); !st) return st;
  if (offset < 0) {
    return failure(BH_INVALID_ARGUMENT, "the offset is below 0", "range", "offset",
                   "count from the file's start");
  }
  auto entry = open_entry(place_->files(), std::string(path));
  if (!entry) return std::move(entry).failure();
  if (entry->folder()) {
    return failure(BH_FAILED_PRECONDITION, sdk::json_quote(path) + " is a folder", "is_folder",
                   "path", "list it, and read the files");
  }
  // What is written meanwhile is another file: this one keeps its bytes until it is closed.
  const int64_t end = entry->about.st_size;
  if (offset > end) {
    return failure(BH_OUT_OF_RANGE,
                   sdk::json_quote(path) + " has " + std::to_string(end) + " bytes only", "range",
                   "offset", "begin within the file");
  }
  int64_t left = size < 0 ? end - offset : std::min(size, end - offset);
  const auto most = static_cast<size_t>(std::min(left, static_cast<int64_t>(kPiece)));
  const auto buffer = std::make_unique<char[]>(std::max<size_t>(most, 1));
  while (left > 0) {
    if (auto st = call.stopped(); !st) return st;
    const auto want = static_cast<size_t>(std::min(left, static_cast<int64_t>(kPiece)));
    const ssize_t n = ::pread(entry->fd.get(), buffer.get(), want, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_failure(errno, "read", path);
    if (n == 0) {
      return failure(BH_ABORTED, sdk::json_quote(path) + " was cut short while it was read",
                     "file_changed", "path", "read it again");
    }
    if (auto st = call.emit(BH_STREAM_DATA, {buffer.get(), static_cast<size_t>(n)}); !st) return st;
    offset += n;
    left -= n;
  }
  return {};
}

}  // namespace filestore_dir
