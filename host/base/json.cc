#include "base/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/utf8.h"

namespace bh::json {
namespace {

namespace bj = boost::json;

// Builds the value while Boost's parser reads. Ours, because Boost's own lets the last duplicate
// key win and rounds some doubles wrongly.
struct Builder {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  struct Level {
    bj::value container;
    std::string key;
  };

  bj::value root;
  std::vector<Level> levels;
  std::string text;
  std::string number;
  std::string duplicate;
  bool has_duplicate = false;
  bool too_large = false;

  bool put(bj::value v, bj::error_code& ec) {
    if (levels.empty()) {
      root = std::move(v);
      return true;
    }
    Level& top = levels.back();
    if (top.container.is_array()) {
      top.container.get_array().push_back(std::move(v));
      return true;
    }
    if (!top.container.get_object().emplace(top.key, std::move(v)).second) {
      duplicate = top.key;
      has_duplicate = true;
      ec = bj::make_error_code(bj::error::syntax);
      return false;
    }
    return true;
  }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_object_begin(bj::error_code&) {
    levels.push_back({bj::value(bj::object()), {}});
    return true;
  }
  bool on_array_begin(bj::error_code&) {
    levels.push_back({bj::value(bj::array()), {}});
    return true;
  }
  bool close(bj::error_code& ec) {
    bj::value done = std::move(levels.back().container);
    levels.pop_back();
    return put(std::move(done), ec);
  }
  bool on_object_end(std::size_t, bj::error_code& ec) { return close(ec); }
  bool on_array_end(std::size_t, bj::error_code& ec) { return close(ec); }
  bool on_key_part(bj::string_view s, std::size_t, bj::error_code&) {
    text.append(s.data(), s.size());
    return true;
  }
  bool on_key(bj::string_view s, std::size_t, bj::error_code&) {
    text.append(s.data(), s.size());
    levels.back().key = std::move(text);
    text.clear();
    return true;
  }
  bool on_string_part(bj::string_view s, std::size_t, bj::error_code&) {
    text.append(s.data(), s.size());
    return true;
  }
  bool on_string(bj::string_view s, std::size_t, bj::error_code& ec) {
    bool ok = false;
    if (text.empty()) {
      ok = put(bj::value(s), ec);
    } else {
      text.append(s.data(), s.size());
      ok = put(bj::value(bj::string_view(text.data(), text.size())), ec);
      text.clear();
    }
    return ok;
  }
  bool on_number_part(bj::string_view s, bj::error_code&) {
    number.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, bj::string_view, bj::error_code& ec) {
    number.clear();
    return put(bj::value(i), ec);
  }
  bool on_uint64(std::uint64_t u, bj::string_view, bj::error_code& ec) {
    number.clear();
    return put(bj::value(u), ec);
  }
  bool on_double(double d, bj::string_view s, bj::error_code& ec) {
    number.append(s.data(), s.size());
    double exact = d;
    auto [end, err] = std::from_chars(number.data(), number.data() + number.size(), exact);
    if (err == std::errc::result_out_of_range) exact = std::abs(d) < 1 ? 0.0 : HUGE_VAL;
    number.clear();
    if (!std::isfinite(exact)) {
      too_large = true;
      ec = bj::make_error_code(bj::error::syntax);
      return false;
    }
    return put(bj::value(exact), ec);
  }
  bool on_bool(bool b, bj::error_code& ec) { return put(bj::value(b), ec); }
  bool on_null(bj::error_code& ec) { return put(bj::value(nullptr), ec); }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }
};

int hex_at(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int out = 0;
  auto [end, err] = std::from_chars(text.data() + at, text.data() + at + 4, out, 16);
  return err == std::errc() && end == text.data() + at + 4 ? out : -1;
}

// Replaces \u escapes of surrogates that have no partner by \ufffd: Boost refuses them, and
// programs do write them (a title cut in the middle of an emoji).
std::string without_lone_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i++];
      continue;
    }
    int unit = text[i + 1] == 'u' ? hex_at(text, i + 2) : -1;
    if (unit < 0xD800 || unit > 0xDFFF) {
      out.append(text.substr(i, 2));
      i += 2;
      continue;
    }
    bool pair = unit <= 0xDBFF && text.substr(i + 6, 2) == "\\u";
    int low = pair ? hex_at(text, i + 8) : -1;
    if (low >= 0xDC00 && low <= 0xDFFF) {
      out.append(text.substr(i, 12));
      i += 12;
    } else {
      out += "\\ufffd";
      i += 6;
    }
  }
  return out;
}

bool may_have_surrogates(std::string_view text) {
  for (std::size_t at = text.find("\\u"); at != std::string_view::npos;
       at = text.find("\\u", at + 2)) {
    if (at + 2 < text.size() && (text[at + 2] == 'd' || text[at + 2] == 'D')) return true;
  }
  return false;
}

Result<value> parse_clean(std::string_view text) {
  bj::parse_options options;
  options.max_depth = kMaxDepth;
  bj::basic_parser<Builder> parser(options);
  bj::error_code ec;
  std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  const Builder& built = parser.handler();
  std::string where = " at byte " + std::to_string(used);
  if (ec == bj::error::too_deep) {
    return fail(BH_INVALID_ARGUMENT,
                "the JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels" + where,
                "json_depth", {{"remedy", "nest it less deeply"}});
  }
  if (built.too_large) {
    return fail(BH_INVALID_ARGUMENT, "a number is too large for a double" + where, "json_syntax",
                {{"remedy", "send it as text"}});
  }
  if (built.has_duplicate) {
    return fail(BH_INVALID_ARGUMENT,
                "the key " + quote(built.duplicate) + " stands twice in one object",
                "json_duplicate_key", {{"field", built.duplicate}, {"remedy", "keep one of the two"}});
  }
  if (ec) {
    return fail(BH_INVALID_ARGUMENT, "not valid JSON" + where + ": " + ec.message(), "json_syntax",
                {{"remedy", "mend it there"}});
  }
  for (std::size_t i = used; i < text.size(); i++) {
    if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r') {
      return fail(BH_INVALID_ARGUMENT, "text follows the JSON value at byte " + std::to_string(i),
                  "json_syntax", {{"remedy", "give one value and nothing behind it"}});
    }
  }
  return std::move(parser.handler().root);
}

void print_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// indent < 0: on one line.
void print_value(std::string& out, const value& v, int indent, int depth) {
  auto line = [&](int d) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * d), ' ');
  };
  switch (v.kind()) {
    case bj::kind::null:
      out += "null";
      break;
    case bj::kind::bool_:
      out += v.get_bool() ? "true" : "false";
      break;
    case bj::kind::int64:
      out += std::to_string(v.get_int64());
      break;
    case bj::kind::uint64:
      out += std::to_string(v.get_uint64());
      break;
    case bj::kind::double_:
      out += print_number(v.get_double());
      break;
    case bj::kind::string:
      print_string(out, std::string_view(v.get_string().data(), v.get_string().size()));
      break;
    case bj::kind::array: {
      out += '[';
      bool first = true;
      for (const value& item : v.get_array()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        print_value(out, item, indent, depth + 1);
      }
      if (!first) line(depth);
      out += ']';
      break;
    }
    case bj::kind::object: {
      out += '{';
      bool first = true;
      for (const auto& [key, item] : v.get_object()) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        print_string(out, std::string_view(key.data(), key.size()));
        out += indent < 0 ? ":" : ": ";
        print_value(out, item, indent, depth + 1);
      }
      if (!first) line(depth);
      out += '}';
      break;
    }
  }
}

}  // namespace

Result<value> parse(std::string_view text) {
  if (!utf8::valid(text)) {
    return fail(BH_INVALID_ARGUMENT, "the JSON is not valid UTF-8", "json_utf8",
                {{"remedy", "encode its text as UTF-8; bytes that are none go as base64"}});
  }
  if (may_have_surrogates(text)) return parse_clean(without_lone_surrogates(text));
  return parse_clean(text);
}

Result<object> parse_object(std::string_view text) {
  auto v = parse(text);
  if (!v) return tl::unexpected(std::move(v).error());
  if (!v->is_object()) {
    return fail(BH_INVALID_ARGUMENT, "a JSON object is expected here", "json_syntax",
                {{"remedy", "put it in { }"}});
  }
  return std::move(v->get_object());
}

void print_to(std::string& out, const value& v) { print_value(out, v, -1, 0); }

std::string print(const value& v) {
  std::string out;
  print_to(out, v);
  return out;
}

std::string print_pretty(const value& v) {
  std::string out;
  print_value(out, v, 2, 0);
  return out;
}

std::string print_number(double number) {
  if (!std::isfinite(number)) return "null";
  if (number == 0) return std::signbit(number) ? "-0.0" : "0.0";
  // The shortest digits that read back the same, then laid out as Python's repr does: fixed between
  // 1e-4 and 1e16, with a point always, else with an exponent of at least two digits.
  char buffer[40];
  auto [end, err] =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  std::string_view all(buffer, static_cast<std::size_t>(end - buffer));
  std::string out;
  if (all[0] == '-') {
    out = "-";
    all.remove_prefix(1);
  }
  std::size_t e = all.find('e');
  std::string digits;
  for (char c : all.substr(0, e)) {
    if (c != '.') digits += c;
  }
  std::string_view exponent_text = all.substr(e + 1);
  if (exponent_text[0] == '+') exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) out += '.' + digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    int size = std::abs(exponent);
    if (size < 10) out += '0';
    return out + std::to_string(size);
  }
  if (exponent < 0)
    return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) {
    return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  }
  auto point = static_cast<std::size_t>(exponent + 1);
  return out + digits.substr(0, point) + '.' + digits.substr(point);
}

std::string quote(std::string_view text) {
  std::string out;
  if (utf8::valid(text)) {
    print_string(out, text);
  } else {
    print_string(out, utf8::repair(text));
  }
  return out;
}

std::string_view get_string(const object& o, std::string_view key, std::string_view fallback) {
  const value* v = o.if_contains(key);
  if (v == nullptr || !v->is_string()) return fallback;
  return {v->get_string().data(), v->get_string().size()};
}

bool get_bool(const object& o, std::string_view key, bool fallback) {
  const value* v = o.if_contains(key);
  return v != nullptr && v->is_bool() ? v->get_bool() : fallback;
}

std::int64_t get_int(const object& o, std::string_view key, std::int64_t fallback) {
  const value* v = o.if_contains(key);
  if (v == nullptr) return fallback;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64())
    return static_cast<std::int64_t>(std::min<std::uint64_t>(v->get_uint64(), INT64_MAX));
  if (v->is_double() && std::abs(v->get_double()) < 9e18)
    return static_cast<std::int64_t>(v->get_double());
  return fallback;
}

const object* get_object(const object& o, std::string_view key) {
  const value* v = o.if_contains(key);
  return v != nullptr ? v->if_object() : nullptr;
}

const array* get_array(const object& o, std::string_view key) {
  const value* v = o.if_contains(key);
  return v != nullptr ? v->if_array() : nullptr;
}

}  // namespace bh::json
