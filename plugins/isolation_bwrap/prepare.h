// From a profile to all that create() and plan() answer: who, what is seen, and the report.
#pragma once

#include <bulkhead/sdk/isolation/report.hpp>
#include <optional>
#include <set>
#include <string>

#include "order.h"

namespace bwrap {

struct Prepared {
  isolation::Profile profile;
  Identity who;
  View view;
  isolation::Report report{"bwrap"};
};

struct PrepareRequest {
  const Tools* tools = nullptr;
  std::string profile;  // JSON
  std::string own_home, own_tmp;
  const std::set<std::string>* absent = nullptr;
  // What create() found out; none: find out.
  std::optional<Ids> ids;
  bool take_id = true;  // false: only say which id the persona would have
};

// Makes nothing; the helper program tries mounts that are laid nowhere. [blocking]
sdk::Result<Prepared> prepare(sdk::Call& call, const PrepareRequest& request);

// A sandbox that cannot be had at all: a network that would be wider than asked, or a required
// rule.
sdk::Status acceptable(const Prepared& prepared);

uint64_t shm_bytes(const isolation::Limits& limits);

}  // namespace bwrap
