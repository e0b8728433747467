// From a profile to all that create() and plan() answer: who, what is seen, how it is built and
// entered, and the report.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/isolation/cgroup.hpp>
#include <bulkhead/sdk/isolation/memo.hpp>
#include <bulkhead/sdk/isolation/personas.hpp>
#include <bulkhead/sdk/isolation/report.hpp>
#include <bulkhead/sdk/isolation/sub_ids.hpp>
#include <bulkhead/sdk/isolation/view.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker_client.h"

namespace ns {

// What a provider has once, for all of its sandboxes. Constant after open().
struct Tools {
  std::string helper;
  // Seccomp programs: without capabilities, with those, and with those where a file that runs as its
  // owner may be made.
  isolation::Fd filter, packages_filter, set_id_filter;
  isolation::Variables environment;
  isolation::CgroupPlace cgroups;
  isolation::Personas personas{"", isolation::kIdRanges};
  isolation::SubIds sub_ids;  // of the ordinary user that we run as
  isolation::Memo memo;
  std::vector<std::string> own;  // files that we run from; their folders are never writable
};

struct Prepared {
  isolation::Profile profile;
  isolation::Identity who;
  isolation::View view;
  isolation::Report report{"ns"};
  Blueprint blueprint;
  Entry entry;
  const isolation::SubIds* sub_ids = nullptr;  // where ids of theirs are mapped: for `packages` alone
  bool set_ids = false;  // files that run as their owner can be made: nobody on the host reaches them
};

struct PrepareRequest {
  const Tools* tools = nullptr;
  std::string profile;  // JSON
  std::string own_home, own_tmp;
  std::string upper;  // of an image's root; empty: in memory
  const std::set<std::string>* absent = nullptr;
  bool take_id = true;  // false: only say which ids the persona would have
};

// Makes nothing. [blocking]
sdk::Result<Prepared> prepare(const PrepareRequest& request);

// What maps the ids of an ordinary user's sandbox `who`, and those of /etc/subuid.
void draw_sub_ids(const isolation::Identity& who, const isolation::SubIds& sub_ids, Blueprint& blueprint);

// Fills blueprint and entry from all the rest.
void draw(Prepared& prepared);

// A sandbox that cannot be had at all: a network that would be wider than asked, or a required
// rule.
sdk::Status acceptable(const Prepared& prepared);

}  // namespace ns
