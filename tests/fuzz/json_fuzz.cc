// Whatever is read can be printed, and what was printed reads back as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto value = bh::json::parse({reinterpret_cast<const char*>(data), size});
  if (!value) {
    if (value.error().message.empty()) std::abort();
    return 0;
  }
  std::string once = bh::json::print(*value);
  auto again = bh::json::parse(once);
  if (!again || bh::json::print(*again) != once) std::abort();
  return 0;
}
