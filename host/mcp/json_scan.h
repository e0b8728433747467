// Strings inside JSON, passed over eight bytes at a time: most of what passes through is text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bh::mcp {

// Where the first byte from `at` on stands that is not plain in a string: a quote, a backslash, a
// control character, or one of more than 7 bits. The size of the text where there is none.
inline size_t plain_end(std::string_view t, size_t at) {
  constexpr uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
  // The top bit of each byte that is zero; above a true one there may be false ones.
  auto zeros = [](uint64_t w) { return (w - ones) & ~w & tops; };
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + 8 <= t.size(); at += 8) {
      uint64_t w;
      std::memcpy(&w, t.data() + at, sizeof w);
      uint64_t found = zeros(w ^ (ones * '"')) | zeros(w ^ (ones * '\\')) |
                       ((w - ones * 0x20) & ~w & tops) | (w & tops);
      if (found != 0) return at + static_cast<size_t>(std::countr_zero(found)) / 8;
    }
  }
  for (; at < t.size(); ++at) {
    auto c = static_cast<unsigned char>(t[at]);
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
  }
  return at;
}

// Behind the string that begins at `at` with its quote, in text that is known to be JSON.
size_t skip_string(std::string_view t, size_t at);

}  // namespace bh::mcp
