// bulkhead/sdk/json.hpp - JSON for plugins that want it, over Boost.JSON: link bulkhead::sdk_json
// (bulkhead_add_plugin(... JSON) does). Nothing else in the SDK includes this.
#ifndef BULKHEAD_SDK_JSON_HPP
#define BULKHEAD_SDK_JSON_HPP

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "result.hpp"

namespace bulkhead::sdk::json {

using boost::json::array;
using boost::json::object;
using boost::json::value;

// What the host sends is valid; a failure here is a bug on one of the two sides. Depth 128.
inline Result<value> parse(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = 128;
  boost::json::error_code ec;
  value v = boost::json::parse({text.data(), text.size()}, ec, {}, options);
  if (ec) {
    return failure(BH_INVALID_ARGUMENT, "not valid JSON: " + ec.message(), "json");
  }
  return v;
}

// The same, where an object is due; an empty text is the empty object.
inline Result<object> parse_object(std::string_view text) {
  if (text.empty()) return object();
  auto v = parse(text);
  if (!v) return std::move(v).failure();
  if (!v->is_object()) return failure(BH_INVALID_ARGUMENT, "a JSON object is due here", "json");
  return std::move(v->as_object());
}

inline std::string print(const value& v) { return boost::json::serialize(v); }
inline std::string print(const object& o) { return boost::json::serialize(o); }
inline std::string print(const array& a) { return boost::json::serialize(a); }

inline std::string_view view(const boost::json::string& s) { return {s.data(), s.size()}; }

// Members that the schema has checked: the value, or `otherwise` where it is absent or of another
// type.
inline std::string_view text(const object& o, std::string_view key,
                             std::string_view otherwise = {}) {
  const value* v = o.if_contains({key.data(), key.size()});
  return v != nullptr && v->is_string() ? view(v->get_string()) : otherwise;
}
inline int64_t integer(const object& o, std::string_view key, int64_t otherwise = 0) {
  const value* v = o.if_contains({key.data(), key.size()});
  if (v == nullptr || !v->is_number()) return otherwise;
  boost::json::error_code ec;
  const auto n = v->to_number<int64_t>(ec);
  return ec ? otherwise : n;
}
inline double number(const object& o, std::string_view key, double otherwise = 0) {
  const value* v = o.if_contains({key.data(), key.size()});
  if (v == nullptr || !v->is_number()) return otherwise;
  boost::json::error_code ec;
  const auto n = v->to_number<double>(ec);
  return ec ? otherwise : n;
}
inline bool boolean(const object& o, std::string_view key, bool otherwise = false) {
  const value* v = o.if_contains({key.data(), key.size()});
  return v != nullptr && v->is_bool() ? v->get_bool() : otherwise;
}
inline const object* child(const object& o, std::string_view key) {
  const value* v = o.if_contains({key.data(), key.size()});
  return v != nullptr ? v->if_object() : nullptr;
}
inline const array* list(const object& o, std::string_view key) {
  const value* v = o.if_contains({key.data(), key.size()});
  return v != nullptr ? v->if_array() : nullptr;
}

}  // namespace bulkhead::sdk::json

#endif  // BULKHEAD_SDK_JSON_HPP
