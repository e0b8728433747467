// The arguments of sandbox.exec and sandbox.plan that flags and a profile's file make.
#pragma once

#include <boost/json.hpp>

#include "cli/options.h"
#include "cli/problem.h"
#include "cli/setup.h"
#include "cli/surroundings.h"

namespace bh::cli {

// backend, profile, argv, cwd, timeout_ms. Refuses where there is no workspace.
Result<boost::json::object> exec_args(const Options& options, const Setup& setup,
                                      const Surroundings& around);

// Where they come from, for what the library says of them.
Named named_of_exec(const Options& options, const Setup& setup, const Surroundings& around);

}  // namespace bh::cli
