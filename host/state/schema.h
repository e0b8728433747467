// What the database holds, as the steps that brought it there.
#pragma once

#include <cstddef>

namespace bh {

// Step N takes a database from version N to N+1; a step never changes once it was released.
extern const char* const kSchemaSteps[];
extern const std::size_t kSchemaVersion;

}  // namespace bh
