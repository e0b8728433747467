// SHA-256 and SHA-512 of what passes by. The plain functions of OpenSSL, as the host uses them: they
// bring no provider along that would read files.
#pragma once

#include <openssl/sha.h>

#include <string>
#include <string_view>

namespace bh::unpack {

class Hash {
 public:
  enum class Kind { kSha256, kSha512 };
  explicit Hash(Kind kind = Kind::kSha256);
  void add(const void* data, std::size_t size);
  // "sha256:…", once.
  std::string digest();

 private:
  const Kind kind_;
  SHA256_CTX small_;
  SHA512_CTX large_;
};

// Whether a text is a digest that can be checked here, and of which kind.
bool is_digest(std::string_view text, Hash::Kind* kind);

std::string sha256(std::string_view text);

}  // namespace bh::unpack
