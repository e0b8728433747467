#define OPENSSL_SUPPRESS_DEPRECATED
#include "images/worker/hash.h"

#include <algorithm>

namespace bh::unpack {

Hash::Hash(Kind kind) : kind_(kind) {
  ::SHA256_Init(&small_);
  ::SHA512_Init(&large_);
}

void Hash::add(const void* data, std::size_t size) {
  if (kind_ == Kind::kSha256) {
    ::SHA256_Update(&small_, data, size);
  } else {
    ::SHA512_Update(&large_, data, size);
  }
}

std::string Hash::digest() {
  unsigned char raw[SHA512_DIGEST_LENGTH];
  std::size_t size = SHA256_DIGEST_LENGTH;
  std::string out = "sha256:";
  if (kind_ == Kind::kSha256) {
    ::SHA256_Final(raw, &small_);
  } else {
    ::SHA512_Final(raw, &large_);
    size = SHA512_DIGEST_LENGTH;
    out = "sha512:";
  }
  static constexpr char kHex[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; i++) {
    out += kHex[raw[i] >> 4];
    out += kHex[raw[i] & 15];
  }
  return out;
}

bool is_digest(std::string_view text, Hash::Kind* kind) {
  const bool small = text.substr(0, 7) == "sha256:";
  if (!small && text.substr(0, 7) != "sha512:") return false;
  text.remove_prefix(7);
  *kind = small ? Hash::Kind::kSha256 : Hash::Kind::kSha512;
  return text.size() == (small ? 64u : 128u) && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string sha256(std::string_view text) {
  Hash hash;
  hash.add(text.data(), text.size());
  return hash.digest();
}

}  // namespace bh::unpack
