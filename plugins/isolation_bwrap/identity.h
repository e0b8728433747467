// Who a sandbox's processes are: for the kernel, and for themselves.
#pragma once

#include <sys/stat.h>

#include <bulkhead/sdk/isolation/profile.hpp>
#include <cstdint>
#include <string>

namespace bwrap {

namespace sdk = bulkhead::sdk;
namespace isolation = bulkhead::sdk::isolation;

enum class Ids {
  kOwn,      // not started by root: the user's own id, as bubblewrap always did
  kShifted,  // started by root: an id of the persona's that owns nothing on the host
  kRoot,     // started by root, but the files cannot be mapped: id 0 without capabilities
};

struct Identity {
  Ids ids = Ids::kOwn;
  uint32_t uid = 0, gid = 0;                // for the kernel
  uint32_t inside_uid = 0, inside_gid = 0;  // as seen inside
  std::string name;

  // May it read (4), write (2), enter (1) what has these facts? Capabilities do not count.
  bool may(const struct stat& st, unsigned want) const;
};

// `shifted`: the kernel id that kShifted takes; see personas.h.
Identity identity_for(const isolation::Profile& profile, Ids ids, uint32_t shifted);

// The host's /etc/passwd or /etc/group with a line for the sandbox's user in front; empty where
// there is no such file.
std::string passwd_for(const Identity& who, const std::string& home);
std::string group_for(const Identity& who);

}  // namespace bwrap
