// The places inside a sandbox that are not simply what the host shows there, by path: the first
// half of make_view(), which settles what; layout.h settles how.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "view.h"

namespace bwrap {

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
using Nodes = std::map<std::string, Node, isolation::PathOrder>;

struct Placed {
  std::string target;  // inside
  bool named = false;  // by the host itself: may lie in what is hidden
  bool ours = false;   // HOME or tmp: mount points may be made in it
};

class Gather {
 public:
  Gather(const ViewRequest& request, View& view) : request_(request), view_(view) {}
  sdk::Status run();

  Nodes nodes;
  std::vector<Placed> placed;  // one per source

 private:
  sdk::Status add_source(const std::string& source, isolation::Access access,
                         const std::string& field, Placed placing, bool mapped);
  sdk::Status check_target(const std::string& target, const std::string& field) const;
  sdk::Status add_places();
  sdk::Status add_rule(const isolation::Profile::Rule& rule);
  sdk::Status add_rule_below(const isolation::Profile::Rule& rule, size_t source,
                             const std::string& target, Outcome& outcome);
  sdk::Status add_rule_host(const isolation::Profile::Rule& rule, const std::string& target,
                            Outcome& outcome);
  void add_hidden();
  void add_credentials();
  void add_resolver();
  void add_own();
  bool shown_writable(const std::string& target, size_t source) const;
  void add_root_secrets();
  void add_kernel_settings();
  void mask_everywhere(const std::string& host_path);
  void mask_proc_in(const std::string& target);
  void mask_at(const std::string& target, const std::string& host_path);
  // The source that shows `target`, or none: -1.
  int source_at(const std::string& target) const;
  std::string host_of(const std::string& target) const;
  bool below_mask(const std::string& target) const;
  bool always_hidden(const std::string& host_path) const;

  const ViewRequest& request_;
  View& view_;
  const isolation::MountTable mounts_ = isolation::MountTable::here();
  std::vector<std::string> hides_;  // canonical, with their aliases
};

}  // namespace bwrap
