// The functions that a plugin calls through its bh_call, over Call.
#pragma once

#include <bulkhead/plugin.h>

namespace bh {

const bh_call_api* call_api();

}  // namespace bh
