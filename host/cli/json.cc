#include "cli/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <vector>

namespace bh::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 128;

// Sees every key of a text and stops at the first that an object has twice: Boost.JSON would keep
// the last one, and a reader of the file believes the first.
struct KeyHandler {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  std::vector<std::set<std::string>> objects;
  std::string key;
  bool twice = false;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    objects.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    objects.pop_back();
    return true;
  }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t, json::error_code&) { return true; }
  bool on_key_part(json::string_view s, std::size_t, json::error_code&) {
    key.append(s.data(), s.size());
    return true;
  }
  bool on_key(json::string_view s, std::size_t, json::error_code& ec) {
    key.append(s.data(), s.size());
    if (!objects.back().insert(key).second) {
      twice = true;
      ec = json::make_error_code(json::error::syntax);
      return false;
    }
    key.clear();
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

std::string place(std::string_view text, std::size_t offset) {
  std::string_view before = text.substr(0, std::min(offset, text.size()));
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  std::size_t start = before.rfind('\n');
  std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

json::parse_options deep() {
  json::parse_options o;
  o.max_depth = kMaxDepth;
  return o;
}

}  // namespace

Result<json::value> parse_strict(std::string_view text, const std::string& what) {
  json::basic_parser<KeyHandler> parser(deep());
  json::error_code ec;
  std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  const KeyHandler& keys = parser.handler();
  if (keys.twice) {
    return problem(what + " has the key \"" + keys.key + "\" twice (" + place(text, used) + ")",
                   "keep one of them");
  }
  if (ec == json::make_error_code(json::error::too_deep)) {
    return problem(what + " is nested deeper than " + std::to_string(kMaxDepth));
  }
  if (ec == json::make_error_code(json::error::incomplete) || (!ec && text.empty())) {
    return problem(what + " ends in the middle of a JSON value");
  }
  bool rest_blank = text.find_first_not_of(" \t\r\n", used) == std::string_view::npos;
  if (ec || !rest_blank) {
    std::string why = ec ? ec.message() : "something follows the value";
    return problem(what + " is not JSON: " + why + " at " + place(text, used));
  }
  json::value v = json::parse(json::string_view(text.data(), text.size()), ec, {}, deep());
  if (ec) return problem(what + " is not JSON: " + ec.message());
  return v;
}

Result<json::object> parse_strict_object(std::string_view text, const std::string& what) {
  Result<json::value> v = parse_strict(text, what);
  if (!v) return tl::unexpected<Problem>(std::move(v.error()));
  if (!v->is_object()) return problem(what + " must be a JSON object: {…}");
  return std::move(v->get_object());
}

json::object parse_object_or_empty(std::string_view text) {
  json::error_code ec;
  json::value v = json::parse(json::string_view(text.data(), text.size()), ec, {}, deep());
  if (ec || !v.is_object()) return {};
  return std::move(v.get_object());
}

std::string string_at(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(json::string_view(key.data(), key.size()));
  if (v == nullptr || !v->is_string()) return {};
  return std::string(v->get_string().data(), v->get_string().size());
}

std::int64_t int_at(const json::object& o, std::string_view key, std::int64_t absent) {
  const json::value* v = o.if_contains(json::string_view(key.data(), key.size()));
  if (v == nullptr) return absent;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64()) return static_cast<std::int64_t>(v->get_uint64());
  return absent;
}

bool bool_at(const json::object& o, std::string_view key, bool absent) {
  const json::value* v = o.if_contains(json::string_view(key.data(), key.size()));
  return v != nullptr && v->is_bool() ? v->get_bool() : absent;
}

const json::object& object_at(const json::object& o, std::string_view key) {
  static const json::object kEmpty;
  const json::value* v = o.if_contains(json::string_view(key.data(), key.size()));
  return v != nullptr && v->is_object() ? v->get_object() : kEmpty;
}

const json::array& array_at(const json::object& o, std::string_view key) {
  static const json::array kEmpty;
  const json::value* v = o.if_contains(json::string_view(key.data(), key.size()));
  return v != nullptr && v->is_array() ? v->get_array() : kEmpty;
}

json::object* make_at(json::object& o, std::initializer_list<std::string_view> path) {
  json::object* at = &o;
  for (std::string_view key : path) {
    json::value& next = (*at)[json::string_view(key.data(), key.size())];
    if (next.is_null()) next.emplace_object();
    if (!next.is_object()) return nullptr;
    at = &next.get_object();
  }
  return at;
}

}  // namespace bh::cli
