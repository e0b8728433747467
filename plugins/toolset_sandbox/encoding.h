// Between the text of an argument or answer and the bytes of a file.
#pragma once

#include <optional>

#include "tools.h"

namespace toolset_sandbox {

// The encodings go by Python's names, whatever their case and separators. `bytes_too` adds "base64".
// INVALID_ARGUMENT names the encoding or the first character or byte that does not fit.
sdk::Result<std::string> encoded(std::string_view text, std::string_view encoding, bool bytes_too);
sdk::Result<std::string> decoded(std::string bytes, std::string_view encoding, bool bytes_too);

std::string to_base64(std::string_view bytes);
// Nothing where the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

// 755 means 0755. Nothing for 0, which leaves the mode alone. `field` names the argument.
sdk::Result<std::optional<int64_t>> mode_bits(int64_t decimal, const std::string& field);
// 0755 as 755.
int64_t mode_digits(int64_t bits);

}  // namespace toolset_sandbox
