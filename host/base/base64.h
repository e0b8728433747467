// Bytes as text for JSON (RFC 4648, section 4: the alphabet with + and /, padded).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bh::base64 {

std::string encode(std::string_view bytes);

// Strict: no white space, padding where it belongs, no bits beyond the last byte. INVALID_ARGUMENT
// with reason "base64"; the message says at which byte.
Result<std::string> decode(std::string_view text);

}  // namespace bh::base64
