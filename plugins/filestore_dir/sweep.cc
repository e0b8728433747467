#include "sweep.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/random.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

#include "about.h"
#include "walk.h"

namespace filestore_dir {

using sdk::Status;

std::string fresh_name(const char* prefix) {
  unsigned char random[16] = {};
  // Short requests are answered whole; a name that repeated would be refused by O_EXCL.
  (void)!::getrandom(random, sizeof random, 0);
  std::string out = prefix;
  char hex[3];
  for (const unsigned char byte : random) {
    std::snprintf(hex, sizeof hex, "%02x", byte);
    out += hex;
  }
  return out;
}

namespace {

bool starts(const char* name, const char* prefix) {
  return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

}  // namespace

Status sweep_uploads(const Place& place) {
  const bool read = each_name(place.tmp(), [&](const char* name, unsigned char) {
    if (!starts(name, "up-")) return true;
    const Fd fd = open_beneath(place.tmp(), name, O_RDONLY);
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(place.tmp(), name, 0);
    return true;
  });
  return read ? Status() : Status(system_failure(errno, "tidy up", "tmp"));
}

sdk::Result<Uploads> count_uploads(const Place& place) {
  Uploads out;
  const bool read = each_name(place.tmp(), [&](const char* name, unsigned char) {
    struct stat about {};
    if (starts(name, "up-") && ::fstatat(place.tmp(), name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(about.st_mode)) {
      out.bytes += about.st_size;
      ++out.files;
    }
    return true;
  });
  if (!read) return system_failure(errno, "count", "tmp");
  return out;
}

namespace {

// One folder of tmp/: its files go, its folders are moved up beside it, and so it is empty at last
// however deep it was.
Status empty_folder(sdk::Call& call, const Place& place, const std::string& name,
                    std::vector<std::string>& more) {
  const Fd fd = open_folder(place.tmp(), name);
  if (!fd) return errno == ENOENT ? Status() : Status(system_failure(errno, "remove", name));
  Status stopped;
  int seen = 0;
  const bool read = each_name(fd.get(), [&](const char* entry, unsigned char) {
    if (++seen % 256 == 0 && !(stopped = call.stopped())) return false;
    struct stat about {};
    if (::fstatat(fd.get(), entry, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    if (!S_ISDIR(about.st_mode)) {
      if (S_ISREG(about.st_mode)) forget_media_type(place, about);
      ::unlinkat(fd.get(), entry, 0);
    } else if (::unlinkat(fd.get(), entry, AT_REMOVEDIR) != 0 && errno == ENOTEMPTY) {
      std::string up = fresh_name("gone-");
      if (::renameat(fd.get(), entry, place.tmp(), up.c_str()) == 0) more.push_back(std::move(up));
    }
    return true;
  });
  if (!stopped) return stopped;
  if (!read) return system_failure(errno, "remove", name);
  if (::unlinkat(place.tmp(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  // Another process moved something of it up at the same time: that one ends it.
  if (errno == ENOTEMPTY) return {};
  return system_failure(errno, "remove", name);
}

}  // namespace

Status sweep_folders(sdk::Call& call, const Place& place) {
  std::vector<std::string> names;
  const bool read = each_name(place.tmp(), [&](const char* name, unsigned char) {
    if (starts(name, "gone-")) names.emplace_back(name);
    return true;
  });
  if (!read) return system_failure(errno, "tidy up", "tmp");
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    if (auto st = empty_folder(call, place, name, names); !st) return st;
  }
  return {};
}

namespace {

Status add_etags(sdk::Call& call, int folder, int depth, std::set<std::string>& out) {
  if (auto st = call.stopped(); !st) return st;
  std::vector<std::string> below;
  const bool read = each_name(folder, [&](const char* name, unsigned char) {
    struct stat about {};
    if (::fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    if (S_ISREG(about.st_mode)) out.insert(etag_of(about));
    if (S_ISDIR(about.st_mode)) below.emplace_back(name);
    return true;
  });
  if (!read) return system_failure(errno, "count", "the store");
  for (const std::string& name : below) {
    const Fd fd = depth > 0 ? open_folder(folder, name) : Fd();
    if (!fd) continue;
    if (auto st = add_etags(call, fd.get(), depth - 1, out); !st) return st;
  }
  return {};
}

}  // namespace

Status sweep_types(sdk::Call& call, const Place& place) {
  std::vector<std::string> kept;
  const bool read = each_name(place.types(), [&](const char* name, unsigned char) {
    return kept.emplace_back(name), true;
  });
  if (!read) return system_failure(errno, "tidy up", "types");
  if (kept.empty()) return {};
  std::set<std::string> etags;
  if (auto st = add_etags(call, place.files(), kMaxParts, etags); !st) return st;
  for (const std::string& name : kept) {
    if (etags.count(name) == 0) ::unlinkat(place.types(), name.c_str(), 0);
  }
  return {};
}

}  // namespace filestore_dir
