#include "place.h"

#include <sys/file.h>

#include "sweep.h"
#include "usage.h"

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

Lock::~Lock() {
  // Said aloud, since a child between fork and exec holds the same lock.
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

sdk::Result<Lock> Place::lock(sdk::Call& call) {
  std::unique_lock guard(mutex_, std::defer_lock);
  while (!guard.try_lock_for(std::chrono::milliseconds(100))) {
    if (auto st = call.stopped(); !st) return std::move(st).failure();
  }
  // flock() itself cannot be called off.
  for (auto pause = std::chrono::microseconds(100);;) {
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return Lock(std::move(guard), lock_.get());
    if (errno != EWOULDBLOCK && errno != EINTR) return system_failure(errno, "lock", "the store");
    if (auto st = call.wait(pause); !st) return std::move(st).failure();
    pause = std::min(pause * 2, std::chrono::microseconds(10'000));
  }
}

Status Place::open_parts() {
  const std::string& path = config_.root;
  auto cannot = [&](const char* doing) {
    const int error = errno;
    char buffer[128] = {};
    return failure(BH_FAILED_PRECONDITION,
                   "cannot " + std::string(doing) + " the file store's folder " +
                       sdk::json_quote(path) + ": " + ::strerror_r(error, buffer, sizeof buffer),
                   "root", "root", "make it a folder that Bulkhead's user may write in");
  };
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot("make");
  root_ = Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_) return cannot("open");
  struct stat top {};
  for (auto [name, out] : {std::pair("files", &files_), std::pair("tmp", &tmp_),
                           std::pair("types", &types_)}) {
    if (::mkdirat(root_.get(), name, 0700) != 0 && errno != EEXIST) return cannot("write in");
    *out = open_folder(root_.get(), name);
    if (!*out || ::fstat(out->get(), &top) != 0) return cannot("use");
  }
  for (auto [name, out] : {std::pair("lock", &lock_), std::pair("members", &members_),
                           std::pair("usage", &usage_)}) {
    *out = open_beneath(root_.get(), name, O_RDWR | O_CREAT, 0600);
    if (!*out || ::fstat(out->get(), &top) != 0) return cannot("write in");
    if (!S_ISREG(top.st_mode)) return errno = EINVAL, cannot("use");
  }
  (void)::fsync(root_.get());
  return {};
}

// Etags are times of writing, to the nanosecond: what keeps seconds only would repeat them.
Status Place::check_clock() const {
  const timespec odd{1'000'000'001, 123'456'789};
  const timespec both[2] = {odd, odd};
  struct stat now {};
  if (::futimens(members_.get(), both) != 0 || ::fstat(members_.get(), &now) != 0) {
    return system_failure(errno, "set the time of", "members");
  }
  if (now.st_mtim.tv_nsec == odd.tv_nsec) return {};
  return failure(BH_FAILED_PRECONDITION,
                 "the file system of " + sdk::json_quote(config_.root) + " keeps no nanoseconds",
                 "root", "root", "put the store on ext4, xfs, btrfs, zfs or tmpfs");
}

sdk::Result<std::unique_ptr<Place>> Place::open(sdk::Call& call, Config config) {
  std::unique_ptr<Place> place(new Place(std::move(config)));
  if (auto st = place->open_parts(); !st) return std::move(st).failure();
  {
    auto lock = place->lock(call);
    if (!lock) return std::move(lock).failure();
    if (auto st = place->check_clock(); !st) return std::move(st).failure();
    if (::flock(place->members_.get(), LOCK_EX | LOCK_NB) == 0) {
      // Alone: what a crash, or somebody by hand, has changed is counted anew.
      if (auto st = Usage::recount(call, *place); !st) return std::move(st).failure();
      // Only now: an upload that is whole and has no name yet has its type there too.
      if (auto st = sweep_types(call, *place); !st) return std::move(st).failure();
    }
    if (::flock(place->members_.get(), LOCK_SH | LOCK_NB) != 0) {
      return system_failure(errno, "join", "the store");
    }
    if (auto st = sweep_uploads(*place); !st) return std::move(st).failure();
  }
  if (auto st = sweep_folders(call, *place); !st) return std::move(st).failure();
  return place;
}

}  // namespace filestore_dir
