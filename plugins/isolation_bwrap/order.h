// Everything for one start of the helper program: bubblewrap's arguments, the job, the task, and
// the descriptors that go with them.
#pragma once

#include <bulkhead/sdk/isolation/cgroup.hpp>
#include <bulkhead/sdk/isolation/launch.hpp>
#include <bulkhead/sdk/isolation/personas.hpp>
#include <bulkhead/sdk/isolation/view.hpp>
#include <vector>

#include "features.h"
#include "memo.h"

namespace bwrap {

namespace isolation = bulkhead::sdk::isolation;
using isolation::Identity;
using isolation::Ids;
using isolation::View;

// What a provider has once, for all of its sandboxes. Constant after open().
struct Tools {
  Features features;
  std::string helper;
  isolation::Fd init;    // sealed copy of the helper
  isolation::Fd filter;  // seccomp program
  isolation::Variables environment;
  isolation::CgroupPlace cgroups;
  isolation::Memo memo;
  isolation::Personas personas{"", isolation::kSingleIds};
  std::vector<std::string> own;  // files that we run from; their folders are never writable
};

// Owns what the order borrows.
struct Order {
  isolation::LaunchOrder launch;
  std::vector<isolation::Fd> held;
};

struct OrderRequest {
  const Tools* tools = nullptr;
  const Identity* who = nullptr;
  const isolation::Profile* profile = nullptr;
  View* view = nullptr;                     // its sources move into the job
  std::vector<isolation::Fd> cgroup_doors;  // moved
  std::vector<std::string> argv, env;
  std::string cwd;
  std::vector<isolation::Limit> limits;
  uint64_t wall_ns = 0;
  uint32_t rows = 0, columns = 0;
  bool input = false;
};

sdk::Result<Order> make_order(OrderRequest request);

// A job that only tries whether the view's sources can be staged.
isolation::LaunchOrder make_check(const Tools& tools, const Identity& who, const View& view);

}  // namespace bwrap
