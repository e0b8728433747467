// Whatever an archive says, it changes nothing outside of the folder that it is unpacked into, makes
// no set-id file and stays below the limits. Without the worker's walls: its own care alone.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/fd.h"
#include "images/worker/image.h"
#include "images/worker/tree.h"

namespace {

constexpr std::int64_t kMostBytes = 1 << 20;
constexpr std::int64_t kMostEntries = 100;

// A folder with a file beside the target, which is to stay as it is.
struct Place {
  std::string path;
  bh::Fd fd;
  Place() {
    char name[] = "/tmp/bh-fuzz-image-XXXXXX";
    path = ::mkdtemp(name);
    fd = bh::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const bh::Fd beside(::openat(fd.get(), "beside", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (::write(beside.get(), "kept", 4) != 4) std::abort();
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void check(const std::string& path) {
  struct stat st {};
  if (::stat((path + "/beside").c_str(), &st) != 0 || st.st_size != 4 || st.st_nlink != 1) std::abort();
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) count += entry.exists() ? 1u : 0u;
  if (count != 2) std::abort();
  std::int64_t entries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path + "/target")) {
    entries++;
    if (::lstat(entry.path().c_str(), &st) != 0) std::abort();
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) std::abort();
    if (!S_ISLNK(st.st_mode) && (st.st_mode & (S_ISUID | S_ISGID)) != 0) std::abort();
    if (S_ISREG(st.st_mode) && st.st_size > kMostBytes) std::abort();
  }
  // A layout's own files and those of its layers are counted apart.
  if (entries > 2 * kMostEntries + 2) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  const bh::Fd source(::memfd_create("image", MFD_CLOEXEC));
  if (::write(source.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  ::lseek(source.get(), 0, SEEK_SET);
  if (::mkdirat(place.fd.get(), "target", 0700) != 0) std::abort();
  const bh::Fd target(bh::unpack::open_at(place.fd.get(), "target", O_RDONLY | O_DIRECTORY));
  bh::unpack::Job job;
  job.limits.bytes = kMostBytes;
  job.limits.entries = kMostEntries;
  job.limits.depth = 8;
  job.limits.ratio_from = 1 << 20;
  job.arch = "amd64";
  (void)bh::unpack::unpack_image(source.get(), target.get(), job);
  check(place.path);
  if (!bh::unpack::remove_tree(place.fd.get(), "target")) std::abort();
  return 0;
}
