// Bytes come back as they were; a text that is taken is the one form that its bytes have.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/base64.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto back = bh::base64::decode(bh::base64::encode(input));
  if (!back || *back != input) std::abort();
  if (const auto bytes = bh::base64::decode(input)) {
    if (bh::base64::encode(*bytes) != input) std::abort();
  }
  return 0;
}
