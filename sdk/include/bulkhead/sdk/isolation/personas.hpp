// bulkhead/sdk/isolation/personas.hpp - which kernel ids each persona of a data folder has, when
// root starts its sandboxes.
#ifndef BULKHEAD_SDK_ISOLATION_PERSONAS_HPP
#define BULKHEAD_SDK_ISOLATION_PERSONAS_HPP

#include <string.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "../result.hpp"
#include "fd.hpp"

namespace bulkhead::sdk::isolation {

// Ids that a backend hands out: `count` pieces of `width` ids each, from `first` on, where neither
// distributions nor systemd hand any out. One piece more belongs to the trial, which is nobody's.
struct IdSpace {
  uint32_t first = 0, count = 0, width = 1;
  uint32_t trial() const { return first + count * width; }
};
// No two backends share any.
constexpr IdSpace kSingleIds = {0x70000000, 0x01000000, 1};
constexpr IdSpace kIdRanges = {0x72000000, 31000, 65536};

// A file per id that is taken, which names its persona: no two personas ever share one, whichever
// processes ask at once, and none is ever given back. [any]
class Personas {
 public:
  // `folder`: the provider's state folder.
  Personas(std::string folder, IdSpace space)
      : folder_(std::move(folder) + "/.ids"), space_(space) {}

  // The persona's own, for ever; taken now where it has none and `take` says so, else the one that
  // it would get. RESOURCE_EXHAUSTED, INTERNAL: it cannot be written down.
  Result<uint32_t> id_of(const std::string& persona, bool take) const;

  // Where the search begins: most often also where it ends.
  uint32_t first_guess(const std::string& persona) const {
    return space_.first + guess(persona) * space_.width;
  }

 private:
  Status claim(const std::string& path, const std::string& persona) const;
  uint32_t guess(const std::string& persona) const {
    uint32_t hash = 2166136261u;
    for (const char c : persona) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash % space_.count;
  }

  std::string folder_;
  IdSpace space_;
};

// The file appears with its text or not at all, so that nobody reads half a name; that another was
// quicker is no error, the caller looks again.
inline Status Personas::claim(const std::string& path, const std::string& persona) const {
  auto cannot = [&] {
    return failure(errno == ENOSPC || errno == EDQUOT ? BH_RESOURCE_EXHAUSTED : BH_INTERNAL,
                        "cannot write down the id of a persona at " + path + ": " +
                            ::strerror(errno),
                        "state_dir", {}, "make room there, or make the folder writable");
  };
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return cannot();
  std::string next = folder_ + "/.new-XXXXXX";
  const Fd fd(::mkostemp(next.data(), O_CLOEXEC));
  if (!fd) return cannot();
  const bool done = write_all(fd.get(), persona) && ::fsync(fd.get()) == 0 &&
                    (::link(next.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlink(next.c_str());
  errno = error;
  if (done) return {};
  return cannot();
}

inline Result<uint32_t> Personas::id_of(const std::string& persona, bool take) const {
  const uint32_t start = guess(persona);
  for (uint32_t step = 0; step < space_.count;) {
    const uint32_t id = space_.first + (start + step) % space_.count * space_.width;
    const std::string path = folder_ + "/" + std::to_string(id);
    std::string owner;
    errno = 0;
    if (read_file(path, owner)) {
      if (owner == persona) return id;
      ++step;
      continue;
    }
    if (errno != ENOENT) {
      return failure(BH_INTERNAL, "cannot read " + path + ": " + ::strerror(errno),
                          "state_dir", {}, "make the folder readable");
    }
    if (!take) return id;
    if (auto st = claim(path, persona); !st) return std::move(st).failure();
  }
  return failure(BH_RESOURCE_EXHAUSTED, "all ids for personas are taken", "persona_ids",
                      "persona", "remove personas, with the folder " + folder_);
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_PERSONAS_HPP
