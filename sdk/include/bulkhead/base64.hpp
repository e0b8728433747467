// Bytes as text for the JSON that an embedder sends and gets (RFC 4648, section 4: the alphabet with
// + and /, padded). No state, no exception but std::bad_alloc. [any]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::base64 {

inline constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Adds the text of `bytes` to `out`, which may hold anything already.
inline void append(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
}

inline std::string encode(std::string_view bytes) {
  std::string out;
  append(out, bytes);
  return out;
}

// The bytes, or nothing where `text` is not what encode() would have made of them: white space,
// padding that is missing or too much, and bits beyond the last byte are refused.
inline std::optional<std::string> decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char c : text.substr(0, text.find('='))) {
    const std::size_t value = kDigits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  // Writing it again is the whole check of padding and of bits left over.
  if (encode(out) != text) return std::nullopt;
  return out;
}

}  // namespace bulkhead::base64
