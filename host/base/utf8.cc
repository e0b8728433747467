#include "base/utf8.h"

#include <algorithm>

namespace bh::utf8 {
namespace {

bool continues(unsigned char c) { return (c & 0xC0U) == 0x80U; }

struct Lead {
  std::size_t length;
  unsigned char second_min;
  unsigned char second_max;
};

Lead lead_of(unsigned char c) {
  if (c < 0x80) return {1, 0, 0};
  if (c >= 0xC2 && c <= 0xDF) return {2, 0x80, 0xBF};
  if (c == 0xE0) return {3, 0xA0, 0xBF};
  if (c == 0xED) return {3, 0x80, 0x9F};
  if (c >= 0xE1 && c <= 0xEF) return {3, 0x80, 0xBF};
  if (c == 0xF0) return {4, 0x90, 0xBF};
  if (c >= 0xF1 && c <= 0xF3) return {4, 0x80, 0xBF};
  if (c == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// How many bytes belong to the character at the start, also when it is cut short or broken.
std::size_t well_formed_prefix(std::string_view text, bool& whole) {
  Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  whole = false;
  if (lead.length == 0) return 1;
  if (lead.length == 1) {
    whole = true;
    return 1;
  }
  if (text.size() < 2) return 1;
  auto second = static_cast<unsigned char>(text[1]);
  if (second < lead.second_min || second > lead.second_max) return 1;
  for (std::size_t i = 2; i < lead.length; i++) {
    if (i >= text.size() || !continues(static_cast<unsigned char>(text[i]))) return i;
  }
  whole = true;
  return lead.length;
}

}  // namespace

std::size_t next(std::string_view text) {
  if (text.empty()) return 0;
  bool whole = false;
  std::size_t n = well_formed_prefix(text, whole);
  return whole ? n : 0;
}

bool valid(std::string_view text) {
  while (!text.empty()) {
    // Most text is ASCII; skipping it a byte at a time costs next to nothing.
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    std::size_t n = next(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string repair(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    bool whole = false;
    std::size_t n = well_formed_prefix(text, whole);
    if (whole) {
      out.append(text.substr(0, n));
    } else {
      append(out, 0xFFFD);
    }
    text.remove_prefix(n);
  }
  return out;
}

void append(std::string& out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) c = 0xFFFD;
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

}  // namespace bh::utf8
