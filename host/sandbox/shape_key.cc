#include "sandbox/shape_key.h"

#include <openssl/evp.h>

#include <array>

namespace bh {

std::string shape_key(const std::string& persona, const std::string& backend,
                      const json::object& profile) {
  std::string text = persona + '\n' + backend + '\n' + json::print(profile);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  ::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha256(), nullptr);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < 16; i++) {
    out += kHex[digest[i] >> 4];
    out += kHex[digest[i] & 15];
  }
  return out;
}

}  // namespace bh
