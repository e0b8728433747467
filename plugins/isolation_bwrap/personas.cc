#include "personas.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bulkhead/sdk/isolation/fd.hpp>
#include <cstdlib>

namespace bwrap {

namespace isolation = sdk::isolation;
using isolation::Fd;

uint32_t Personas::first_guess(const std::string& persona) {
  uint32_t hash = 2166136261u;
  for (const char c : persona) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return kFirstShifted + hash % kShiftedCount;
}

// The file appears with its text or not at all, so that nobody reads half a name; that another was
// quicker is no error, the caller looks again.
sdk::Status Personas::claim(const std::string& path, const std::string& persona) const {
  auto cannot = [&] {
    return sdk::failure(errno == ENOSPC || errno == EDQUOT ? BH_RESOURCE_EXHAUSTED : BH_INTERNAL,
                        "cannot write down the id of a persona at " + path + ": " +
                            ::strerror(errno),
                        "state_dir", {}, "make room there, or make the folder writable");
  };
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return cannot();
  std::string next = folder_ + "/.new-XXXXXX";
  const Fd fd(::mkostemp(next.data(), O_CLOEXEC));
  if (!fd) return cannot();
  const bool done = isolation::write_all(fd.get(), persona) && ::fsync(fd.get()) == 0 &&
                    (::link(next.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlink(next.c_str());
  errno = error;
  if (done) return {};
  return cannot();
}

sdk::Result<uint32_t> Personas::id_of(const std::string& persona, bool take) const {
  const uint32_t start = first_guess(persona) - kFirstShifted;
  for (uint32_t step = 0; step < kShiftedCount;) {
    const uint32_t id = kFirstShifted + (start + step) % kShiftedCount;
    const std::string path = folder_ + "/" + std::to_string(id);
    std::string owner;
    errno = 0;
    if (isolation::read_file(path, owner)) {
      if (owner == persona) return id;
      ++step;
      continue;
    }
    if (errno != ENOENT) {
      return sdk::failure(BH_INTERNAL, "cannot read " + path + ": " + ::strerror(errno),
                          "state_dir", {}, "make the folder readable");
    }
    if (!take) return id;
    if (auto st = claim(path, persona); !st) return std::move(st).failure();
  }
  return sdk::failure(BH_RESOURCE_EXHAUSTED, "all ids for personas are taken", "persona_ids",
                      "persona", "remove personas, with the folder " + folder_);
}

}  // namespace bwrap
