// From a profile to all that create() and plan() answer: who, what may be reached, and the report.
#pragma once

#include <bulkhead/sdk/isolation/cgroup.hpp>
#include <bulkhead/sdk/isolation/environment.hpp>
#include <bulkhead/sdk/isolation/launch.hpp>
#include <bulkhead/sdk/isolation/report.hpp>
#include <set>
#include <string>
#include <vector>

#include "grants.h"

namespace landlocked {

using isolation::Identity;
using isolation::Ids;

// What a provider has once, for all of its sandboxes. Constant after open().
struct Tools {
  std::string helper, state;  // absolute paths
  int version = 0;  // Landlock's
  isolation::Fd no_network, network;  // seccomp programs
  isolation::Variables environment;
  isolation::CgroupPlace cgroups;
  std::vector<std::string> own;  // files that we run from; their folders are never writable
};

struct Prepared {
  isolation::Profile profile;
  Identity who;
  std::string home, tmp, cwd;  // as commands find them
  Wall wall;
  std::vector<std::string> absent;  // rules about what was not there in a writable folder
  isolation::Report report{"landlock"};
};

struct PrepareRequest {
  const Tools* tools = nullptr;
  std::string profile;  // JSON
  std::string own_home, own_tmp;
  const std::set<std::string>* absent = nullptr;
};

// Makes nothing. [blocking]
sdk::Result<Prepared> prepare(const PrepareRequest& request);

// A sandbox that cannot be had at all: a root or a network that is not what was asked for, or a
// required rule.
sdk::Status acceptable(const Prepared& prepared);

// What report.cc needs beside the prepared.
struct Seen {
  const isolation::View* view = nullptr;
  const Grants* grants = nullptr;
};
void fill_report(const Tools& tools, const Seen& seen, Prepared& prepared);

}  // namespace landlocked
