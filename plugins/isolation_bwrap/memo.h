// What asking the installed bubblewrap gave, as a memo keeps it.
#pragma once

#include <bulkhead/sdk/isolation/memo.hpp>

#include "features.h"

namespace bwrap {

// True: a sandbox started here lately, and `features` is filled.
bool recall(const sdk::isolation::Memo& memo, Features& features);
void keep(const sdk::isolation::Memo& memo, const Features& features);

}  // namespace bwrap
