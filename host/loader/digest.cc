// The plain SHA256_ functions: EVP would read its providers first, which takes 0.7 ms of a start
// that has one millisecond, and link 4 MB of libcrypto.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "loader/digest.h"

#include <openssl/sha.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace bh {
namespace {

std::string hex_digest(SHA256_CTX& context) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256_Final(digest, &context);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kHex[byte >> 4];
    hex += kHex[byte & 15];
  }
  return hex;
}

}  // namespace

std::string sha256_of(std::string_view text) {
  SHA256_CTX context;
  ::SHA256_Init(&context);
  ::SHA256_Update(&context, text.data(), text.size());
  return hex_digest(context);
}

Result<std::string> sha256_of(int fd) {
  SHA256_CTX context;
  ::SHA256_Init(&context);
  std::vector<unsigned char> buffer(128 * 1024);
  off_t offset = 0;
  while (true) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "reading the library");
    if (got == 0) break;
    ::SHA256_Update(&context, buffer.data(), static_cast<size_t>(got));
    offset += got;
  }
  return hex_digest(context);
}

}  // namespace bh
