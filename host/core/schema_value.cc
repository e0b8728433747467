#include "core/schema_value.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/schema_node.h"

namespace bh::schema {

namespace {

constexpr int kDeepest = 400;  // beyond what json::parse takes

bool integral(double number) { return std::isfinite(number) && std::trunc(number) == number; }

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

// 2^63 and 2^64 are exact as doubles; what lies between them is converted without loss.
int compare(std::int64_t a, double b) {
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const auto whole = static_cast<std::int64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  const double rest = b - static_cast<double>(whole);
  return sign(rest > 0, rest < 0);
}

int compare(std::uint64_t a, double b) {
  if (b >= 0x1p64) return -1;
  if (b < 0) return 1;
  const auto whole = static_cast<std::uint64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  return sign(b > static_cast<double>(whole), false);
}

int compare(double a, double b) { return sign(a<b, a> b); }

template <class A>
int compare_to(A a, const Value& b) {
  if (const auto* i = b.if_int64()) {
    if constexpr (std::is_same_v<A, double>)
      return -compare(*i, a);
    else
      return sign(std::cmp_less(a, *i), std::cmp_greater(a, *i));
  }
  if (const auto* u = b.if_uint64()) {
    if constexpr (std::is_same_v<A, double>)
      return -compare(*u, a);
    else
      return sign(std::cmp_less(a, *u), std::cmp_greater(a, *u));
  }
  return compare(a, b.get_double());
}

std::uint64_t magnitude(const Value& v) {
  if (const auto* u = v.if_uint64()) return *u;
  const std::int64_t i = v.get_int64();
  return i < 0 ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
}

bool equal_at(const Value& a, const Value& b, int depth) {
  if (depth > kDeepest) return false;
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case boost::json::kind::string:
      return a.get_string() == b.get_string();
    case boost::json::kind::bool_:
      return a.get_bool() == b.get_bool();
    case boost::json::kind::array: {
      const auto& left = a.get_array();
      const auto& right = b.get_array();
      return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(),
                                                       [depth](const Value& x, const Value& y) {
                                                         return equal_at(x, y, depth + 1);
                                                       });
    }
    case boost::json::kind::object: {
      const auto& left = a.get_object();
      const auto& right = b.get_object();
      if (left.size() != right.size()) return false;
      for (const auto& member : left) {
        const Value* other = right.if_contains(member.key());
        if (other == nullptr || !equal_at(member.value(), *other, depth + 1)) return false;
      }
      return true;
    }
    default:
      return true;  // null and null
  }
}

std::size_t mix(std::size_t seed, std::size_t more) {
  return seed ^ (more + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2));
}

std::size_t hash_at(const Value& v, int depth) {
  if (depth > kDeepest) return 0;
  switch (v.kind()) {
    case boost::json::kind::int64:
      return std::hash<double>()(static_cast<double>(v.get_int64()));
    case boost::json::kind::uint64:
      return std::hash<double>()(static_cast<double>(v.get_uint64()));
    case boost::json::kind::double_:
      return std::hash<double>()(v.get_double());
    case boost::json::kind::string:
      return mix(1, std::hash<std::string_view>()(v.get_string()));
    case boost::json::kind::bool_:
      return v.get_bool() ? 3 : 2;
    case boost::json::kind::array: {
      std::size_t seed = 4;
      for (const Value& item : v.get_array()) seed = mix(seed, hash_at(item, depth + 1));
      return seed;
    }
    case boost::json::kind::object: {
      std::size_t sum = 5;  // a sum: the order of members does not count
      for (const auto& member : v.get_object()) {
        const std::string_view key = member.key();
        sum += mix(std::hash<std::string_view>()(key), hash_at(member.value(), depth + 1));
      }
      return sum;
    }
    default:
      return 6;
  }
}

}  // namespace

std::uint8_t types_of(const Value& v) {
  switch (v.kind()) {
    case boost::json::kind::null:
      return kNull;
    case boost::json::kind::bool_:
      return kBoolean;
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return kInteger | kNumber;
    case boost::json::kind::double_:
      return integral(v.get_double()) ? kInteger | kNumber : kNumber;
    case boost::json::kind::string:
      return kString;
    case boost::json::kind::array:
      return kArray;
    default:
      return kObject;
  }
}

int compare_numbers(const Value& a, const Value& b) {
  if (const auto* i = a.if_int64()) return compare_to(*i, b);
  if (const auto* u = a.if_uint64()) return compare_to(*u, b);
  return compare_to(a.get_double(), b);
}

bool is_multiple(const Value& number, const Value& unit) {
  if (!number.is_double() && !unit.is_double()) return magnitude(number) % magnitude(unit) == 0;
  const double n = number.to_number<double>();
  const double u = unit.to_number<double>();
  const double quotient = n / u;
  if (!std::isfinite(quotient)) return std::fmod(n, u) == 0;
  // 4.35 / 0.01 is 434.99999999999994: one rounding error away from what the writer meant.
  const double off = std::fabs(quotient - std::round(quotient));
  return off <= 4 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::fabs(quotient)) &&
         off < 0.25;
}

bool equal(const Value& a, const Value& b) { return equal_at(a, b, 0); }

std::size_t hash(const Value& v) { return hash_at(v, 0); }

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace bh::schema
