// How a command's end becomes the program's exit code, and the line that says why.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/problem.h"

namespace bh::cli {

struct Exit {
  int code = kExitOurs;
  std::vector<Problem> notes;  // each a line on stderr
};

// `result` is the result of sandbox.exec; `timeout_ms` what --timeout said; `passed_on` the last
// signal that we sent the command and that asks for an end, 0: none.
Exit exit_of(const boost::json::object& result, std::optional<std::int64_t> timeout_ms,
             int passed_on = 0);

}  // namespace bh::cli
