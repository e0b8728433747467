#include "usage.h"

#include <dirent.h>
#include <inttypes.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "walk.h"

namespace filestore_dir {

using sdk::Status;

namespace {

constexpr size_t kSize = 96;

Status add_folder(sdk::Call& call, int folder, int depth, Count& out) {
  if (auto st = call.stopped(); !st) return st;
  std::vector<std::string> below;
  const bool read = each_name(folder, [&](const char* name, unsigned char type) {
    struct stat about {};
    if (type != DT_REG && type != DT_DIR && type != DT_UNKNOWN) return true;
    if (type == DT_DIR) return below.emplace_back(name), true;
    if (::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    if (S_ISDIR(about.st_mode)) below.emplace_back(name);
    if (S_ISREG(about.st_mode)) out.bytes += about.st_size, ++out.files;
    return true;
  });
  if (!read) return system_failure(errno, "count", "the store");
  if (depth == 0) return {};
  for (const std::string& name : below) {
    const Fd fd = open_folder(folder, name);
    if (!fd) continue;  // a mount, or gone: not ours to count
    if (auto st = add_folder(call, fd.get(), depth - 1, out); !st) return st;
  }
  return {};
}

}  // namespace

sdk::Result<Count> count_tree(sdk::Call& call, int folder) {
  Count out;
  if (auto st = add_folder(call, folder, kMaxParts, out); !st) return std::move(st).failure();
  return out;
}

sdk::Result<Usage> Usage::read(sdk::Call& call, const Place& place) {
  for (int tries = 0; tries < 2; ++tries) {
    char text[kSize + 1] = {};
    Usage out;
    int changing = 1;
    if (::pread(place.usage(), text, kSize, 0) < 0) {
      return system_failure(errno, "read", "usage");
    }
    const int got = std::sscanf(text, "1 %" SCNd64 " %" SCNd64 " %" SCNd64 " %d", &out.bytes,
                                &out.files, &out.last_version_, &changing);
    if (got == 4 && changing == 0) return out;
    if (auto st = recount(call, place); !st) return std::move(st).failure();
  }
  return sdk::failure(BH_INTERNAL, "the store's usage record does not keep what is written",
                      "system");
}

Status Usage::recount(sdk::Call& call, const Place& place) {
  char text[kSize + 1] = {};
  int64_t bytes = 0, files = 0;
  Usage fresh;
  // The last version is kept through a cut-off change: it only ever grows.
  if (::pread(place.usage(), text, kSize, 0) < 0 ||
      std::sscanf(text, "1 %" SCNd64 " %" SCNd64 " %" SCNd64, &bytes, &files,
                  &fresh.last_version_) != 3) {
    fresh.last_version_ = 0;
  }
  auto counted = count_tree(call, place.files());
  if (!counted) return std::move(counted).failure();
  fresh.bytes = counted->bytes;
  fresh.files = counted->files;
  return fresh.finish(place);
}

Status Usage::write(const Place& place, bool changing) const {
  char text[kSize + 1];
  std::memset(text, ' ', kSize);
  const int n = std::snprintf(text, sizeof text, "1 %" PRId64 " %" PRId64 " %" PRId64 " %d", bytes,
                              files, last_version_, changing ? 1 : 0);
  if (n > 0 && static_cast<size_t>(n) < kSize) text[n] = ' ';
  text[kSize - 1] = '\n';
  const ssize_t put = ::pwrite(place.usage(), text, kSize, 0);
  if (put == static_cast<ssize_t>(kSize)) return {};
  return system_failure(put < 0 ? errno : ENOSPC, "write", "usage");
}

int64_t Usage::next_version() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  last_version_ = std::max(now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec, last_version_ + 1);
  return last_version_;
}

}  // namespace filestore_dir
