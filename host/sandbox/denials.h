// What a failed command was probably refused, for backends that do not tell: guessed from the error
// texts that it printed, held against the sandbox's report.
#pragma once

#include <string_view>

#include "base/json.h"

namespace bh {

// `printed` is the end of the command's stderr, `report` the sandbox's enforcement report. Each
// element is {"rule","resource","message","remedy"?,"guess":true}; at most five, each once. A program
// may print what it likes, so nothing may be decided by this: it is for people and models to read.
// [any]
json::array guess_denials(std::string_view printed, const json::object& report);

}  // namespace bh
