// Arguments that arrive as JSON text ("[1,2]" where a list is due), as some models write them.
//
// The rule: a text is decoded only where the schema itself permits both, a string and what the text
// says: {"type": ["object", "string"]}, or the same by anyOf or oneOf. A schema that lists both
// says that JSON text stands for the value; so "5" becomes 5 under ["integer", "string"]. null is
// decoded only where a third type is listed, for ["string", "null"] is a text that may be absent.
// Nothing is decoded where only strings, or no types, are listed. Meant for a tool's
// accepts_schema: coerce first, check then.
#pragma once

#include <boost/json/value.hpp>

#include "core/schema.h"

namespace bh {

// [any] The value with such texts decoded, also within decoded ones. Never fails: a text that is
// not JSON, or says another type than is listed, stays.
boost::json::value coerce(boost::json::value v, const Schema& accepts);

}  // namespace bh
