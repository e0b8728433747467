// What the plugin hands its helper program beside the task: who may do what beneath which path, in
// the form that launch_job.hpp uses. No SDK types that need a library: both sides include it.
#pragma once

#include <bulkhead/sdk/isolation/landlock.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <string>
#include <vector>

namespace landlocked {

namespace isolation = bulkhead::sdk::isolation;
namespace landlock = isolation::landlock;

// Beyond the roles of launch_job.hpp; doors of control groups follow.
enum ExtraFd : uint32_t {
  kFdWall = isolation::kFdExtra,  // the wall's bytes
  kFdFilter,                      // seccomp's instructions
  kFdDoors
};

// Beneath a grant that has this, all belongs to the sandbox. Devices can be written to, but what
// they are is not theirs to change.
constexpr uint64_t kOwned = landlock::kMove;

struct Grant {
  uint64_t device = 0, inode = 0;  // checked after opening
  uint64_t rights = 0;             // of landlock.hpp
  uint32_t optional = 0;           // 1: one of many; it may go, or become another, at any moment
  std::string path;                // canonical
};

struct Wall {
  std::vector<Grant> grants;
  uint32_t ports = 0;    // 1: no TCP, in the words of Landlock too
  uint32_t version = 0;  // of Landlock, at most
};

inline std::string encode(const Wall& wall) {
  isolation::detail::Writer w;
  w.number(wall.ports);
  w.number(wall.version);
  w.number(wall.grants.size());
  for (const Grant& g : wall.grants) {
    for (const uint64_t n : {g.device, g.inode, g.rights, uint64_t{g.optional}}) w.number(n);
    w.text(g.path);
  }
  return w.take();
}

inline bool decode(std::string_view bytes, Wall& wall) {
  isolation::detail::Reader r(bytes);
  wall.ports = r.small();
  wall.version = r.small();
  wall.grants.resize(r.count());
  for (Grant& g : wall.grants) {
    g.device = r.number();
    g.inode = r.number();
    g.rights = r.number();
    g.optional = r.small();
    g.path = r.text();
  }
  return r.ok();
}

}  // namespace landlocked
