#include "base/base64.h"

#include <array>
#include <cstdint>

namespace bh::base64 {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::int8_t kNone = -1;

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> values{};
  for (std::int8_t& value : values) value = kNone;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

constexpr std::array<std::int8_t, 256> kValues = make_values();

Failure wrong(std::size_t at, std::string_view what) {
  return fail(BH_INVALID_ARGUMENT,
              "base64: " + std::string(what) + " at byte " + std::to_string(at), "base64");
}

}  // namespace

std::string encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    out += kAlphabet[group >> 18];
    out += kAlphabet[group >> 12 & 63];
    out += left > 1 ? kAlphabet[group >> 6 & 63] : '=';
    out += left > 2 ? kAlphabet[group & 63] : '=';
  }
  return out;
}

Result<std::string> decode(std::string_view text) {
  if (text.size() % 4 != 0) return wrong(text.size(), "the length is no multiple of 4");
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t digits = text.size() - padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::int8_t value = i < digits ? kValues[static_cast<unsigned char>(text[i])] : 0;
    if (value == kNone) return wrong(i, "a character that is none of its 64");
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    const std::size_t unused = i + 1 == text.size() ? padding : 0;
    if ((group & ((1u << (unused * 8)) - 1)) != 0) return wrong(i, "bits beyond the last byte");
    for (std::size_t k = 0; k < 3 - unused; ++k) {
      out += static_cast<char>(group >> (16 - 8 * k) & 0xFF);
    }
    group = 0;
  }
  return out;
}

}  // namespace bh::base64
