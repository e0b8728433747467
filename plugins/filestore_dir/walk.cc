#include "walk.h"

#include <dirent.h>

#include <algorithm>
#include <vector>

#include "about.h"

namespace filestore_dir {

using sdk::Status;

bool each_name(int folder, const std::function<bool(const char*, unsigned char)>& each) {
  // A descriptor of its own: the position in a folder belongs to the open description.
  Fd own = open_folder(folder, "");
  if (!own) return false;
  DIR* dir = ::fdopendir(own.get());
  if (dir == nullptr) return false;
  (void)own.release();
  int error = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !each(entry->d_name, entry->d_type)) break;
  }
  ::closedir(dir);
  errno = error;
  return error == 0;
}

namespace {

constexpr size_t kBatch = 16384;

bool is_folder(int folder, const char* name, unsigned char type) {
  if (type != DT_UNKNOWN) return type == DT_DIR;
  struct stat about {};
  return ::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
}

bool starts_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

}  // namespace

// The smallest keys seen. "a" stands for the entry, "a/" for what lies in it: "a-b" comes between.
struct Listing::Batch {
  std::vector<std::string> keys;  // a heap with the largest on top, until it is sorted
  bool full() const { return keys.size() == kBatch; }
  void offer(std::string key) {
    if (full()) {
      if (key >= keys.front()) return;
      std::pop_heap(keys.begin(), keys.end());
      keys.pop_back();
    }
    keys.push_back(std::move(key));
    std::push_heap(keys.begin(), keys.end());
  }
};

// `into`: also the folder that `after` lies in.
Status Listing::collect(int folder, const std::string& after, bool into, Batch& out) {
  Status stopped;
  size_t seen = 0;
  const bool read = each_name(folder, [&](const char* name, unsigned char type) {
    if (++seen % 1024 == 0 && !(stopped = call_.stopped())) return false;
    const bool dir = type == DT_DIR || type == DT_UNKNOWN;
    if ((type != DT_REG && !dir) || !sdk::is_utf8(name)) return true;
    std::string key = name;
    if (key > after) out.offer(key);
    if (!recursive_ || !dir) return true;
    key += '/';
    const bool wanted = key > after || (into && starts_with(after, key));
    if (wanted && is_folder(folder, name, type)) out.offer(std::move(key));
    return true;
  });
  if (!stopped) return stopped;
  if (!read) return system_failure(errno, "list", "a folder");
  std::sort_heap(out.keys.begin(), out.keys.end());
  return {};
}

Status Listing::show(int folder, const std::string& prefix, const std::string& name) {
  auto entry = open_entry(folder, name);
  if (entry) return tell(place_, prefix + name, *entry, each_);
  switch (entry.failure().code()) {
    // Gone meanwhile, or nothing that exists for a caller.
    case BH_NOT_FOUND:
    case BH_FAILED_PRECONDITION:
    case BH_PERMISSION_DENIED:
      return {};
    default:
      return std::move(entry).failure();
  }
}

Status Listing::run(int folder, const std::string& prefix, std::string_view after, int depth) {
  std::string behind(after);
  for (bool first = true;; first = false) {
    Batch batch;
    if (auto st = collect(folder, behind, first, batch); !st) return st;
    for (size_t i = 0; i < batch.keys.size(); ++i) {
      if (i % 64 == 0) {
        if (auto st = call_.stopped(); !st) return st;
      }
      const std::string& key = batch.keys[i];
      if (key.back() != '/') {
        if (auto st = show(folder, prefix, key); !st) return st;
        continue;
      }
      const Fd below =
          depth > 0 ? open_folder(folder, key.substr(0, key.size() - 1)) : Fd();
      if (!below) continue;  // gone, a link by now, or deeper than any path may be
      const std::string_view rest =
          first && starts_with(after, key) ? after.substr(key.size()) : std::string_view();
      if (auto st = run(below.get(), prefix + key, rest, depth - 1); !st) return st;
    }
    if (!batch.full()) return {};
    behind = std::move(batch.keys.back());
  }
}

}  // namespace filestore_dir
