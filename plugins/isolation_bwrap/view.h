// What a sandbox sees: the profile's paths settled on this host, as sources to mount, things to do
// beneath them, and bubblewrap's own operations, in the order in which they must be done.
#pragma once

#include <bulkhead/sdk/isolation/aliases.hpp>
#include <bulkhead/sdk/isolation/environment.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <bulkhead/sdk/isolation/profile.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "identity.h"

namespace bwrap {

// One rule of the profile and what became of it.
struct Outcome {
  enum State { kEnforced, kPartial, kUnsupported } state = kEnforced;
  std::string rule, reason;
};

struct View {
  std::vector<isolation::Source> sources;
  std::vector<isolation::Fd> held;  // one per source: as long as it is open, its inode is its own
  std::vector<std::string> arguments;  // bubblewrap's, with marks for sources
  bool private_users = false;          // staging needs a user namespace first
  std::string home, cwd;               // inside
  std::vector<Outcome> outcomes;       // files:..., mounts:...
  std::vector<std::string> hidden;     // what is masked whatever the profile says
  bool own_by_file = false;  // what we run from lies right in a writable folder
  std::vector<std::string> absent;     // rules about what was not there in a writable folder
};

struct ViewRequest {
  const isolation::Profile* profile = nullptr;
  const Identity* who = nullptr;
  const isolation::Variables* environment = nullptr;  // the host's
  std::string own_home, own_tmp;                      // used where the profile names none
  uint64_t shm_bytes = 0;
  const std::vector<std::string>* own = nullptr;  // canonical files whose folders stay read-only
  // Rules that create() found nothing for: a link that came to stand there is left alone.
  const std::set<std::string>* absent = nullptr;
};

// A failure names the key of the profile that cannot be.
sdk::Result<View> make_view(const ViewRequest& request);

// Files and folders below HOME where programs keep keys; hidden unless a rule speaks of them.
extern const std::vector<std::string> kCredentials;

}  // namespace bwrap
