// JSON as Bulkhead speaks it, over Boost.JSON. Reading is strict: depth 128, no duplicate keys, no
// trailing text, valid UTF-8; lone surrogates become U+FFFD. Printing gives numbers the forms that
// Python and JavaScript give them, which Boost.JSON 1.81 does not (1.5E0).
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bh::json {

using boost::json::array;
using boost::json::object;
using boost::json::string;
using boost::json::value;

inline constexpr std::size_t kMaxDepth = 128;

// One JSON text. INVALID_ARGUMENT with reason json_syntax, json_depth, json_duplicate_key or
// json_utf8; the message says where (byte offset or key).
Result<value> parse(std::string_view text);

// The same, and it must be an object.
Result<object> parse_object(std::string_view text);

std::string print(const value& v);
void print_to(std::string& out, const value& v);
std::string print_pretty(const value& v);

// A number in the shortest form that reads back the same; NaN and infinities (which JSON cannot
// say) become null.
std::string print_number(double number);

// "text" with its quotes; invalid UTF-8 becomes U+FFFD.
std::string quote(std::string_view text);

// Members of an object, or the fallback where the key is absent or of another kind.
std::string_view get_string(const object& o, std::string_view key, std::string_view fallback = {});
bool get_bool(const object& o, std::string_view key, bool fallback = false);
std::int64_t get_int(const object& o, std::string_view key, std::int64_t fallback = 0);
const object* get_object(const object& o, std::string_view key);
const array* get_array(const object& o, std::string_view key);

}  // namespace bh::json
