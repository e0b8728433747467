// Text as people see it: no control characters, cut to a width, the nearest word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bh::cli {

// On one line, with control characters (C0, DEL, C1) and bytes that are not UTF-8 written as
// \xNN; line breaks and tabs become spaces. What plugins, files and tools say goes through here.
std::string printable(std::string_view text);

bool is_utf8(std::string_view text);

// Columns that printable text takes: one for each code point.
std::size_t width_of(std::string_view text);

// At most `columns` wide; what is cut off shows as "…".
std::string cut_to(std::string_view text, std::size_t columns);

// The text up to the end of its first line or sentence.
std::string_view first_sentence(std::string_view text);

// The one of `words` that was most likely meant, or empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& words);

// 600000 → "10 min", 1500 → "1.5 s"; 2147483648 → "2 GiB".
std::string duration_text(std::int64_t ms);
std::string bytes_text(std::int64_t bytes);

}  // namespace bh::cli
