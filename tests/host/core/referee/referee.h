// valijson's verdict.
#pragma once

#include <boost/json/value.hpp>

// True when valijson takes `instance` for an instance of `schema`. Throws what valijson throws.
bool referee_accepts(const boost::json::value& schema, const boost::json::value& instance);
