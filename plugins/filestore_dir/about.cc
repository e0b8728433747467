#include "about.h"

#include <inttypes.h>
#include <sys/xattr.h>

#include <cstdio>

namespace filestore_dir {

using sdk::Status;

namespace {

constexpr char kAttribute[] = "user.bulkhead.media_type";

int64_t modified(const struct stat& about) {
  return about.st_mtim.tv_sec * INT64_C(1'000'000'000) + about.st_mtim.tv_nsec;
}

}  // namespace

std::string etag_of(const struct stat& about) {
  char text[48];
  std::snprintf(text, sizeof text, "%016" PRIx64 "-%" PRIx64,
                static_cast<uint64_t>(modified(about)), static_cast<uint64_t>(about.st_size));
  return text;
}

Status keep_media_type(const Place& place, int file, std::string_view type) {
  if (type.empty()) return {};
  if (::fsetxattr(file, kAttribute, type.data(), type.size(), 0) == 0) return {};
  struct stat about {};
  if (::fstat(file, &about) != 0) return system_failure(errno, "look at", "an upload");
  const std::string name = etag_of(about);
  const Fd fd = open_beneath(place.types(), name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!fd) return system_failure(errno, "keep the media type", name);
  if (sdk::isolation::write_all(fd.get(), type) && ::fsync(fd.get()) == 0) return {};
  const int error = errno;
  ::unlinkat(place.types(), name.c_str(), 0);
  return system_failure(error, "keep the media type", name);
}

std::string media_type_of(const Place& place, int file, const struct stat& about) {
  char text[kMaxMediaType];
  const ssize_t n = ::fgetxattr(file, kAttribute, text, sizeof text);
  std::string out;
  if (n >= 0) {
    out.assign(text, static_cast<size_t>(n));
  } else {
    const Fd fd = open_beneath(place.types(), etag_of(about), O_RDONLY);
    if (!fd || !sdk::isolation::read_all(fd.get(), out, kMaxMediaType)) return {};
  }
  // Somebody else may have written it, and the ABI's texts are UTF-8.
  return sdk::is_utf8(out) ? out : std::string();
}

void forget_media_type(const Place& place, const struct stat& about) {
  ::unlinkat(place.types(), etag_of(about).c_str(), 0);
}

Status tell(const Place& place, std::string_view name, const Opened& what,
            const sdk::EachFile& each) {
  std::string etag, type;
  bh_file_info info{};
  info.struct_size = sizeof info;
  info.kind = what.folder() ? BH_FILE_DIRECTORY : BH_FILE_REGULAR;
  info.name = sdk::str(name);
  info.modified_ns = modified(what.about);
  info.created_ns = -1;  // of the upload's first byte, which means nothing to a caller
  info.mode = what.about.st_mode & 07777;
  if (!what.folder()) {
    etag = etag_of(what.about);
    type = media_type_of(place, what.fd.get(), what.about);
    info.size = what.about.st_size;
  }
  if (!etag.empty()) info.etag = sdk::str(etag);
  if (!type.empty()) info.media_type = sdk::str(type);
  return each(info);
}

}  // namespace filestore_dir
