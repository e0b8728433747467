// The command line, read. Flags that belong to no verb may stand before or after it.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/problem.h"

namespace bh::cli {

// `arguments` without the program's name.
Result<Options> parse_arguments(const std::vector<std::string>& arguments);

}  // namespace bh::cli
