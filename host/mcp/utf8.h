// UTF-8 as the protocol needs it: refused where a client sends it broken, repaired where a tool
// prints bytes that are no text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bh::mcp {

// Bytes of the well-formed character at `at` (1 to 4); 0 where there is none. Overlong forms,
// surrogates and values above U+10FFFF are not well-formed.
size_t utf8_length(std::string_view text, size_t at);

// True when the bytes from `at` to the end could be the beginning of a character whose rest has
// not arrived.
bool utf8_cut_short(std::string_view text, size_t at);

void append_utf8(std::string& out, char32_t code_point);

}  // namespace bh::mcp
