// SHA-256 of an open file or a text.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bh {

// 64 lower-case hex digits. Reads by pread from the start: the fd's position stays. [any]
Result<std::string> sha256_of(int fd);

// The same of a text. [any]
std::string sha256_of(std::string_view text);

}  // namespace bh
