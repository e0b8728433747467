// bulkhead/sdk/text.hpp - between the ABI's pointer-and-length texts and C++, and the little JSON
// that an error or a log record needs. Plugins that read JSON add bulkhead/sdk/json.hpp.
#ifndef BULKHEAD_SDK_TEXT_HPP
#define BULKHEAD_SDK_TEXT_HPP

#include <bulkhead/base.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bulkhead::sdk {

inline std::string_view view(const char* data, size_t size) {
  return data != nullptr ? std::string_view(data, size) : std::string_view();
}
inline std::string_view view(const bh_str& s) { return view(s.data, s.size); }
inline bh_str str(std::string_view s) { return bh_str{s.data(), s.size()}; }

namespace detail {

// Length of the UTF-8 character that starts `s`, or 0 where the bytes are none.
inline size_t utf8_length(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  auto tail = [&](size_t i) { return i < s.size() && (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // could be shorter
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // a surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

}  // namespace detail

inline bool is_utf8(std::string_view s) {
  while (!s.empty()) {
    const size_t n = detail::utf8_length(s);
    if (n == 0) return false;
    s.remove_prefix(n);
  }
  return true;
}

// `s` with U+FFFD in place of every byte that is not UTF-8.
inline std::string to_utf8(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    size_t n = detail::utf8_length(s);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      n = 1;
    } else {
      out.append(s.substr(0, n));
    }
    s.remove_prefix(n);
  }
  return out;
}

// `s` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
inline std::string json_quote(std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::string clean = to_utf8(s);
  std::string out = "\"";
  for (const char c : clean) {
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
      default: {
        const auto u = static_cast<unsigned char>(c);
        if (u < 0x20) {
          out += "\\u00";
          out += kHex[u >> 4];
          out += kHex[u & 15];
        } else {
          out += c;
        }
      }
    }
  }
  return out += '"';
}

// A JSON object written key by key: for error details, log fields and reports. Keys are not
// checked for duplicates.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) {
    return raw(key, json_quote(value));
  }
  JsonObject& number(std::string_view key, int64_t value) {
    return raw(key, std::to_string(value));
  }
  JsonObject& boolean(std::string_view key, bool value) {
    return raw(key, value ? "true" : "false");
  }
  // `json` is a JSON value already.
  JsonObject& raw(std::string_view key, std::string_view json) {
    body_ += body_.empty() ? "" : ",";
    body_ += json_quote(key);
    body_ += ':';
    body_ += json;
    return *this;
  }
  std::string str() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_TEXT_HPP
