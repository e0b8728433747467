// JSON as the program reads it: strictly where people write it, leniently where the library does.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "cli/problem.h"

namespace bh::cli {

// What a person wrote: one value, keys only once, not nested deeper than 128. `what` names it in
// the error, which says line and column.
Result<boost::json::value> parse_strict(std::string_view text, const std::string& what);
Result<boost::json::object> parse_strict_object(std::string_view text, const std::string& what);

// What the library said; anything else than an object reads as an empty one.
boost::json::object parse_object_or_empty(std::string_view text);

// Reading without exceptions: the default where the key is absent or of another type.
std::string string_at(const boost::json::object& o, std::string_view key);
std::int64_t int_at(const boost::json::object& o, std::string_view key, std::int64_t absent = 0);
bool bool_at(const boost::json::object& o, std::string_view key, bool absent = false);
const boost::json::object& object_at(const boost::json::object& o, std::string_view key);
const boost::json::array& array_at(const boost::json::object& o, std::string_view key);

// The object at a path of keys, made where it is absent; nullptr where something else stands there
// (which the library refuses by name).
boost::json::object* make_at(boost::json::object& o, std::initializer_list<std::string_view> path);

}  // namespace bh::cli
