// The service bh.call.operations/1: a toolset runs operations on the thread of its call.
#pragma once

#include <bulkhead/toolset.h>

namespace bh {

const bh_operations* nested_operations();

}  // namespace bh
