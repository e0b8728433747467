// The part of JSON Schema that a plugin's own schemas (config, profile, exec, session) may use. The
// host takes out of a profile what the plugin's schema does not list, and for that it must be able
// to tell: with references and alternatives nobody can say which keys are unlisted.
#pragma once

#include <boost/json/object.hpp>

#include "base/error.h"

namespace bh {

// INVALID_ARGUMENT (schema_unsupported) with the keyword's name and place. abi/README.md has the
// list. [any]
Result<void> check_driver_schema(const boost::json::object& schema);

}  // namespace bh
