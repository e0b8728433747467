// bulkhead/sdk/isolation/view.hpp - what a sandbox sees: the profile's paths settled on this host, as
// sources to mount, things to do beneath them, and steps in the order in which they must be done.
// Nothing here mounts anything: a backend lowers it to what it has.
#ifndef BULKHEAD_SDK_ISOLATION_VIEW_HPP
#define BULKHEAD_SDK_ISOLATION_VIEW_HPP

#include <map>
#include <set>
#include <string>
#include <vector>

#include "environment.hpp"
#include "fd.hpp"
#include "identity.hpp"
#include "launch_job.hpp"
#include "profile.hpp"

namespace bulkhead::sdk::isolation {

// One rule of the profile and what became of it.
struct Outcome {
  enum State { kEnforced, kPartial, kUnsupported } state = kEnforced;
  std::string rule, reason;
};

// What stands at one place inside.
struct Node {
  enum Kind {
    kHost,      // the host's, read-only
    kSource,    // a source is mounted there
    kEmpty,     // an empty folder, read-only once everything in it stands
    kNothing,   // a file that cannot be opened
    kLink,      // a link, in an empty folder that stands for one of the host's
    kReadOnly,  // beneath a source
    kWritable,  // beneath a source
    kProc,
    kDevices,
    kShared,  // /dev/shm
  } kind = kHost;
  size_t source = 0;  // kSource
  std::string link;   // kLink
};
using Nodes = std::map<std::string, Node, PathOrder>;

struct Step {
  std::string target;
  Node node;
};

struct View {
  std::vector<Source> sources;
  std::vector<Fd> held;  // one per source: as long as it is open, its inode is its own
  // Parents first. What lies beneath a source is that source's own matter: Source::inner.
  std::vector<Step> steps;
  std::vector<std::string> seal;    // targets that are made read-only once all else is done
  bool private_users = false;       // staging needs a user namespace first
  std::string home, cwd;            // inside
  std::vector<Outcome> outcomes;    // files:..., mounts:...
  std::vector<std::string> hidden;  // what is masked whatever the profile says
  bool own_by_file = false;         // what we run from lies right in a writable folder
  std::vector<std::string> absent;  // rules about what was not there in a writable folder
};

struct ViewRequest {
  const Profile* profile = nullptr;
  const Identity* who = nullptr;
  const Variables* environment = nullptr;  // the host's
  std::string own_home, own_tmp;           // used where the profile names none
  const std::vector<std::string>* own = nullptr;  // canonical files whose folders stay read-only
  // Rules that create() found nothing for: a link that came to stand there is left alone.
  const std::set<std::string>* absent = nullptr;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_VIEW_HPP
