#include "about.h"
#include "store.h"
#include "sweep.h"
#include "usage.h"
#include "walk.h"

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

void prune(const Place& place, std::string path) {
  while (!path.empty()) {
    const Split at = split(path);
    const Fd above = open_folder(place.files(), at.folder);
    const bool gone = above && ::unlinkat(above.get(), at.name.c_str(), AT_REMOVEDIR) == 0;
    // One that was never made has others above it that were.
    if (!gone && errno != ENOENT) return;
    if (gone) (void)::fsync(above.get());
    path = at.folder;
  }
}

namespace {

Status remove_file(sdk::Call& call, const Place& place, const Fd& above, const Split& at,
                   const struct stat& about) {
  auto usage = Usage::read(call, place);
  if (!usage) return std::move(usage).failure();
  if (auto st = usage->begin(place); !st) return st;
  const bool gone = ::unlinkat(above.get(), at.name.c_str(), 0) == 0;
  const int error = errno;
  if (gone) {
    forget_media_type(place, about);
    usage->bytes -= about.st_size;
    usage->files -= 1;
  }
  (void)usage->finish(place);
  return gone ? Status() : Status(system_failure(error, "remove", at.name));
}

// The folder leaves the tree in one step, whatever is written into it meanwhile; what it held is
// removed outside.
Status move_out(sdk::Call& call, const Place& place, const Fd& above, const Split& at,
                bool recursive) {
  const Fd folder = open_folder(above.get(), at.name);
  if (!folder) return system_failure(errno, "remove", at.name);
  bool empty = true;
  if (!each_name(folder.get(), [&](const char*, unsigned char) { return empty = false; })) {
    return system_failure(errno, "remove", at.name);
  }
  if (!empty && !recursive) {
    return failure(BH_FAILED_PRECONDITION, sdk::json_quote(at.name) + " is a folder and not empty",
                   "not_empty", "path", "remove it with all that it holds (recursive)");
  }
  auto held = count_tree(call, folder.get());
  if (!held) return std::move(held).failure();
  auto usage = Usage::read(call, place);
  if (!usage) return std::move(usage).failure();
  if (auto st = usage->begin(place); !st) return st;
  const std::string name = fresh_name("gone-");
  const bool gone = ::renameat(above.get(), at.name.c_str(), place.tmp(), name.c_str()) == 0;
  const int error = errno;
  if (gone) {
    usage->bytes -= held->bytes;
    usage->files -= held->files;
  }
  (void)usage->finish(place);
  return gone ? Status() : Status(system_failure(error, "remove", at.name));
}

}  // namespace

Status Store::remove(sdk::Call& call, std::string_view path, bool recursive) {
  if (auto st = check_path(path, false); !st) return st;
  const Split at = split(path);
  bool folder = false;
  {
    auto lock = place_->lock(call);
    if (!lock) return std::move(lock).failure();
    const Fd above = open_folder(place_->files(), at.folder);
    if (!above) return system_failure(errno, "remove", path);
    // Not opened: what is no file need not be, to be refused.
    const Fd fd = open_beneath(above.get(), at.name, O_PATH);
    struct stat about {};
    if (!fd || ::fstat(fd.get(), &about) != 0) return system_failure(errno, "remove", path);
    folder = S_ISDIR(about.st_mode);
    if (!folder && !S_ISREG(about.st_mode)) {
      return failure(BH_FAILED_PRECONDITION,
                     sdk::json_quote(path) + " is neither a file nor a folder", "not_regular",
                     "path", "have the operator take it out of the store's folder");
    }
    if (auto st = folder ? move_out(call, *place_, above, at, recursive)
                         : remove_file(call, *place_, above, at, about);
        !st) {
      return st;
    }
    (void)::fsync(above.get());
    prune(*place_, at.folder);
  }
  return folder ? sweep_folders(call, *place_) : Status();
}

}  // namespace filestore_dir
