#include <bulkhead/host.h>
#include <bulkhead/plugin.h>

uint32_t bh_version(void) noexcept { return BH_HOST_VERSION; }

const char* bh_version_text(void) noexcept {
  static_assert(BH_HOST_VERSION == 0x000100, "the text below is this version");
  return "0.1.0";
}

uint32_t bh_plugin_abi(void) noexcept { return (BH_ABI_MAJOR << 16) | BH_ABI_MINOR; }
