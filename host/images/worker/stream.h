// The bytes of an archive: read from a file or pipe, hashed as they come, decompressed by whatever
// libarchive recognises, hashed again, and watched for growing out of all proportion.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "images/worker/hash.h"
#include "images/worker/job.h"

struct archive;

namespace bh::unpack {

// [serial]
class Stream {
 public:
  // `fd` stays the caller's. `packed` and `unpacked`: how to hash the bytes as they are and as they
  // come out.
  Stream(int fd, const Job& job, Hash::Kind packed, Hash::Kind unpacked);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // DATA_LOSS image_broken where it holds nothing, or no stream can be made of it.
  Result<void> open();
  // The next bytes, decompressed; empty: the end. image_broken, image_too_large.
  Result<std::string_view> read();
  // To the end, so that the digests are of all bytes.
  Result<void> drain();

  std::string packed_digest() { return packed_hash_.digest(); }
  std::string unpacked_digest() { return unpacked_hash_.digest(); }
  std::int64_t packed_bytes() const { return packed_; }
  std::int64_t unpacked_bytes() const { return unpacked_; }
  // The last block was all zero, as the end of a tar is.
  bool ends_in_zeros() const { return zeros_ >= 512; }

 private:
  friend struct StreamCallbacks;
  std::int64_t fill(const void** data);

  const int fd_;
  const Job& job_;
  std::unique_ptr<archive, void (*)(archive*)> filters_;
  std::vector<char> buffer_;
  Hash packed_hash_, unpacked_hash_;
  std::int64_t packed_ = 0, unpacked_ = 0, zeros_ = 0;
  int read_error_ = 0;
  bool ended_ = false;
};

}  // namespace bh::unpack
