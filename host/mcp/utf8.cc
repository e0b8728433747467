#include "mcp/utf8.h"

#include <cstdint>

namespace bh::mcp {
namespace {

// What the first byte promises: how many bytes, and the range of the second one, which is where
// overlong forms, surrogates and too large values show.
struct Lead {
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
};

Lead lead_of(uint8_t c) {
  if (c < 0x80) return {1};
  if (c < 0xC2) return {};
  if (c < 0xE0) return {2};
  if (c == 0xE0) return {3, 0xA0, 0xBF};
  if (c == 0xED) return {3, 0x80, 0x9F};
  if (c < 0xF0) return {3};
  if (c == 0xF0) return {4, 0x90, 0xBF};
  if (c < 0xF4) return {4};
  if (c == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

// How many of the bytes at `at` fit what the first one promises.
size_t fitting(std::string_view text, size_t at, const Lead& lead) {
  size_t n = 1;
  while (n < lead.length && at + n < text.size()) {
    auto c = static_cast<uint8_t>(text[at + n]);
    uint8_t low = n == 1 ? lead.low : 0x80;
    uint8_t high = n == 1 ? lead.high : 0xBF;
    if (c < low || c > high) break;
    ++n;
  }
  return n;
}

}  // namespace

size_t utf8_length(std::string_view text, size_t at) {
  Lead lead = lead_of(static_cast<uint8_t>(text[at]));
  if (lead.length <= 1) return lead.length;
  return fitting(text, at, lead) == lead.length ? lead.length : 0;
}

bool utf8_cut_short(std::string_view text, size_t at) {
  Lead lead = lead_of(static_cast<uint8_t>(text[at]));
  return lead.length > 1 && at + lead.length > text.size() &&
         at + fitting(text, at, lead) == text.size();
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace bh::mcp
