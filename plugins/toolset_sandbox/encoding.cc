#include "encoding.h"

#include <algorithm>
#include <bulkhead/sdk/text.hpp>
#include <utility>

namespace toolset_sandbox {

namespace {

enum class Encoding { utf8, ascii, latin1, base64 };

sdk::Result<Encoding> encoding_of(std::string_view name, bool bytes_too) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (plain == "utf8" || plain == "u8") return Encoding::utf8;
  if (plain == "ascii" || plain == "usascii") return Encoding::ascii;
  if (plain == "latin1" || plain == "iso88591" || plain == "l1") return Encoding::latin1;
  if (bytes_too && plain == "base64") return Encoding::base64;
  return wrong("the encoding \"" + std::string(name) + "\" is not known here", "/encoding",
               bytes_too ? "utf-8, ascii, latin-1 and, for bytes, base64 are"
                         : "utf-8, ascii and latin-1 are");
}

uint32_t code_point(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  uint32_t out = byte(0) & (0xFFu >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) out = out << 6 | (byte(i) & 0x3Fu);
  return out;
}

// Every character in one byte, where `most` is the last that has one.
sdk::Result<std::string> narrowed(std::string_view text, uint32_t most) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t n = sdk::detail::utf8_length(text.substr(at));
    if (n == 0) n = 1;
    const uint32_t c = code_point(text.substr(at, n));
    if (c > most) {
      return wrong("the character at byte " + std::to_string(at) +
                       " of the content is not in this encoding",
                   "/content", "use utf-8");
    }
    out += static_cast<char>(c);
    at += n;
  }
  return out;
}

sdk::Failure undecodable(size_t at, const char* encoding, bool bytes_too) {
  return sdk::failure(BH_FAILED_PRECONDITION,
                      "byte " + std::to_string(at) + " of what was read is not " + encoding,
                      "encoding", "/encoding",
                      bytes_too ? "read it with encoding base64"
                                : "read it with encoding latin-1, where each byte is a character");
}

}  // namespace

sdk::Result<std::string> encoded(std::string_view text, std::string_view encoding, bool bytes_too) {
  auto found = encoding_of(encoding, bytes_too);
  if (!found) return std::move(found).failure();
  switch (*found) {
    case Encoding::ascii:
      return narrowed(text, 0x7F);
    case Encoding::latin1:
      return narrowed(text, 0xFF);
    case Encoding::base64: {
      auto bytes = from_base64(text);
      if (!bytes) return wrong("content is not base64", "/content");
      return *std::move(bytes);
    }
    default:
      return std::string(text);
  }
}

sdk::Result<std::string> decoded(std::string bytes, std::string_view encoding, bool bytes_too) {
  auto found = encoding_of(encoding, bytes_too);
  if (!found) return std::move(found).failure();
  if (*found == Encoding::base64) return to_base64(bytes);
  if (*found == Encoding::latin1) {
    std::string out;
    for (const char c : bytes) {
      const auto u = static_cast<unsigned char>(c);
      if (u >= 0x80) out += static_cast<char>(0xC0u | u >> 6);
      out += u < 0x80 ? c : static_cast<char>(0x80u | (u & 0x3Fu));
    }
    return out;
  }
  for (size_t at = 0; at < bytes.size();) {
    const size_t n = sdk::detail::utf8_length(std::string_view(bytes).substr(at));
    if (n == 0 || (n > 1 && *found == Encoding::ascii)) {
      return undecodable(at, *found == Encoding::ascii ? "ascii" : "utf-8", bytes_too);
    }
    at += n;
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < n ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= n ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  size_t characters = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return std::nullopt;
    ++characters;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xFF);
    }
  }
  if (padding > 2 || (characters + padding) % 4 != 0) return std::nullopt;
  return out;
}

sdk::Result<std::optional<int64_t>> mode_bits(int64_t decimal, const std::string& field) {
  if (decimal == 0) return std::optional<int64_t>();
  int64_t bits = 0;
  int shift = 0;
  for (int64_t rest = decimal; rest > 0; rest /= 10, shift += 3) {
    const int64_t digit = rest % 10;
    if (digit > 7 || shift > 9) break;
    bits |= digit << shift;
    if (rest < 10) return std::optional<int64_t>(bits);
  }
  return wrong("mode is " + std::to_string(decimal) + "; it is the octal number, written as 755",
               field, "0 leaves it alone");
}

int64_t mode_digits(int64_t bits) {
  int64_t out = 0;
  int64_t place = 1;
  for (int64_t rest = bits & 07777; rest > 0; rest >>= 3, place *= 10) out += (rest & 7) * place;
  return out;
}

}  // namespace toolset_sandbox
