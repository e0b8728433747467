// UTF-8: what crosses the borders as text is checked with this.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bh::utf8 {

// The length of the well-formed character at the start of `text` (1 to 4), or 0. Overlong forms,
// surrogates and values above U+10FFFF are not well formed (Unicode 15, table 3-7).
std::size_t next(std::string_view text);

bool valid(std::string_view text);

// Each maximal ill-formed part becomes one U+FFFD.
std::string repair(std::string_view text);

// Appends the character; surrogates and values beyond Unicode become U+FFFD.
void append(std::string& out, char32_t c);

}  // namespace bh::utf8
