#include "upload.h"

#include <sys/file.h>

#include "about.h"
#include "sweep.h"
#include "usage.h"

namespace filestore_dir {

using sdk::failure;
using sdk::Status;

namespace {

constexpr int64_t kWindow = int64_t{32} << 20;

}  // namespace

// A name in tmp/, not O_TMPFILE: its size counts in every process's sums, which nothing without a
// name could, and linkat() could not take the place of an older file.
sdk::Result<Upload> Upload::start(sdk::Call& call, Place& place) {
  auto lock = place.lock(call);
  if (!lock) return std::move(lock).failure();
  std::string name = fresh_name("up-");
  Fd fd = open_beneath(place.tmp(), name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!fd) return system_failure(errno, "begin", "an upload");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::unlinkat(place.tmp(), name.c_str(), 0);
    return system_failure(error, "lock", "an upload");
  }
  return Upload(place, std::move(name), std::move(fd));
}

Upload::Upload(Upload&& o) noexcept
    : place_(o.place_),
      name_(std::exchange(o.name_, {})),
      fd_(std::move(o.fd_)),
      size_(o.size_),
      flushed_(o.flushed_),
      etag_(std::move(o.etag_)) {}

Upload::~Upload() {
  if (name_.empty()) return;
  struct stat about {};
  if (!etag_.empty() && ::fstat(fd_.get(), &about) == 0) forget_media_type(*place_, about);
  ::unlinkat(place_->tmp(), name_.c_str(), 0);
}

Status Upload::reserve(sdk::Call& call, int64_t to) {
  const Config& config = place_->config();
  auto over = [&](const char* quota, int64_t limit, const char* remedy) -> Status {
    sdk::JsonObject details;
    details.text("reason", "quota").text("quota", quota).number("limit", limit);
    details.number("size", to).text("remedy", remedy);
    return sdk::Failure(BH_RESOURCE_EXHAUSTED,
                        "the file store takes no more: its limit " + std::string(quota) + " is " +
                            std::to_string(limit),
                        details.str());
  };
  if (to > config.max_file_bytes) {
    return over("max_file_bytes", config.max_file_bytes,
                "split the file, or have the operator raise max_file_bytes");
  }
  auto lock = place_->lock(call);
  if (!lock) return std::move(lock).failure();
  auto usage = Usage::read(call, *place_);
  if (!usage) return std::move(usage).failure();
  for (bool swept = false;; swept = true) {
    auto uploads = count_uploads(*place_);
    if (!uploads) return std::move(uploads).failure();
    // Our own is among them with the size that it has reserved so far.
    if (usage->bytes + uploads->bytes + (to - size_) <= config.max_bytes) break;
    if (swept) {
      return over("max_bytes", config.max_bytes,
                  "remove files, or have the operator raise max_bytes");
    }
    if (auto st = sweep_uploads(*place_); !st) return st;
  }
  if (::ftruncate(fd_.get(), to) != 0) return system_failure(errno, "write", "an upload");
  return {};
}

// Pages go to the disk while the next ones come: memory stays free of gigabytes that wait, and the
// last fsync is short enough for a call that is cancelled.
void Upload::flush_behind() {
  if (size_ - flushed_ < kWindow) return;
  ::sync_file_range(fd_.get(), flushed_, kWindow, SYNC_FILE_RANGE_WRITE);
  if (flushed_ >= kWindow) {
    ::sync_file_range(fd_.get(), flushed_ - kWindow, kWindow,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                          SYNC_FILE_RANGE_WAIT_AFTER);
  }
  flushed_ += kWindow;
}

Status Upload::append(sdk::Call& call, std::string_view data) {
  constexpr size_t kPiece = size_t{1} << 20;
  while (!data.empty()) {
    if (auto st = call.stopped(); !st) return st;
    std::string_view piece = data.substr(0, kPiece);
    if (auto st = reserve(call, size_ + static_cast<int64_t>(piece.size())); !st) return st;
    data.remove_prefix(piece.size());
    while (!piece.empty()) {
      const ssize_t n = ::pwrite(fd_.get(), piece.data(), piece.size(), size_);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return system_failure(n < 0 ? errno : ENOSPC, "write", "an upload");
      piece.remove_prefix(static_cast<size_t>(n));
      size_ += n;
    }
    flush_behind();
  }
  return {};
}

Status Upload::finish(sdk::Call& call, std::string_view media_type) {
  int64_t version = 0;
  {
    auto lock = place_->lock(call);
    if (!lock) return std::move(lock).failure();
    auto usage = Usage::read(call, *place_);
    if (!usage) return std::move(usage).failure();
    version = usage->next_version();
    if (auto st = usage->finish(*place_); !st) return st;
  }
  const timespec when{version / 1'000'000'000, version % 1'000'000'000};
  const timespec both[2] = {when, when};
  struct stat about {};
  if (::futimens(fd_.get(), both) != 0 || ::fstat(fd_.get(), &about) != 0) {
    return system_failure(errno, "finish", "an upload");
  }
  etag_ = etag_of(about);
  if (auto st = keep_media_type(*place_, fd_.get(), media_type); !st) return st;
  if (::fsync(fd_.get()) != 0) return system_failure(errno, "finish", "an upload");
  return call.stopped();
}

bool Upload::commit(int folder, const std::string& name) {
  if (::renameat(place_->tmp(), name_.c_str(), folder, name.c_str()) != 0) return false;
  name_.clear();
  return true;
}

}  // namespace filestore_dir
