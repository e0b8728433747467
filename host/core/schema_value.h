// JSON values as JSON Schema compares them: numbers by what they mean (1 equals 1.0, and 64-bit
// integers are exact), objects without regard to order.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bh::schema {

// The bits of Type that describe the value; 1.0 is an integer.
std::uint8_t types_of(const boost::json::value& v);

// Both are numbers. Less than, equal to or greater than zero.
int compare_numbers(const boost::json::value& a, const boost::json::value& b);

// Both are numbers, `unit` above zero. Exact for integers; for others within a rounding error.
bool is_multiple(const boost::json::value& number, const boost::json::value& unit);

// Values nested beyond any depth that parsing allows count as different.
bool equal(const boost::json::value& a, const boost::json::value& b);

// Equal values have equal hashes.
std::size_t hash(const boost::json::value& v);

// Code points of valid UTF-8.
std::size_t length_of(std::string_view text);

}  // namespace bh::schema
