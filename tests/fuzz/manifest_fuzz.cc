// A manifest is read or refused with a stage and a sentence; one that is read keeps its promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "loader/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto manifest = bh::parse_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) {
    if (manifest.error().message.empty()) std::abort();
    return 0;
  }
  if (manifest->id.empty() || manifest->provides.empty()) std::abort();
  for (const auto& [platform, file] : manifest->library) {
    if (file.empty() || file.front() == '/' || ("/" + file + "/").find("/../") != file.npos) {
      std::abort();
    }
  }
  (void)bh::suits_host(*manifest);
  return 0;
}
