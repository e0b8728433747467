// SHA-256 of an open file.
#pragma once

#include <string>

#include "base/error.h"

namespace bh {

// 64 lower-case hex digits. Reads by pread from the start: the fd's position stays. [any]
Result<std::string> sha256_of(int fd);

}  // namespace bh
