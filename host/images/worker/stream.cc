#include "images/worker/stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "images/worker/path.h"

namespace bh::unpack {

struct StreamCallbacks {
  static la_ssize_t read(archive*, void* self, const void** data) {
    return static_cast<Stream*>(self)->fill(data);
  }
};

namespace {

void free_archive(archive* a) { ::archive_read_free(a); }

std::string words_of(archive* a) {
  const char* text = ::archive_error_string(a);
  return text != nullptr ? text : "it cannot be read";
}

}  // namespace

Stream::Stream(int fd, const Job& job, Hash::Kind packed, Hash::Kind unpacked)
    : fd_(fd), job_(job), filters_(nullptr, free_archive), buffer_(256u << 10), packed_hash_(packed),
      unpacked_hash_(unpacked) {}

Stream::~Stream() = default;

std::int64_t Stream::fill(const void** data) {
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    read_error_ = errno;
    ::archive_set_error(filters_.get(), errno, "reading the archive");
    return -1;
  }
  packed_hash_.add(buffer_.data(), static_cast<std::size_t>(got));
  packed_ += got;
  *data = buffer_.data();
  return got;
}

Result<void> Stream::open() {
  filters_.reset(::archive_read_new());
  archive* a = filters_.get();
  // By name, not all: the others would start programs.
  for (auto support : {::archive_read_support_filter_gzip, ::archive_read_support_filter_bzip2,
                       ::archive_read_support_filter_xz, ::archive_read_support_filter_lzma,
                       ::archive_read_support_filter_zstd, ::archive_read_support_filter_lz4,
                       ::archive_read_support_filter_compress, ::archive_read_support_format_raw,
                       ::archive_read_support_format_empty}) {
    // A warning: this build of libarchive would use a program for it.
    (void)support(a);
  }
  archive_entry* whole = nullptr;
  int st = ::archive_read_open(a, this, nullptr, StreamCallbacks::read, nullptr);
  if (st == ARCHIVE_OK) st = ::archive_read_next_header(a, &whole);
  if (read_error_ != 0) return fail_errno(read_error_, "reading the archive");
  if (st == ARCHIVE_EOF || packed_ == 0) return broken({}, "it is empty");
  if (st != ARCHIVE_OK && st != ARCHIVE_WARN) return broken({}, words_of(a));
  return {};
}

Result<std::string_view> Stream::read() {
  if (ended_) return std::string_view();
  const void* data = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  const int st = ::archive_read_data_block(filters_.get(), &data, &size, &offset);
  if (read_error_ != 0) return fail_errno(read_error_, "reading the archive");
  if (st == ARCHIVE_EOF) {
    ended_ = true;
    return std::string_view();
  }
  if (st != ARCHIVE_OK && st != ARCHIVE_WARN) return broken({}, words_of(filters_.get()));
  const std::string_view bytes(static_cast<const char*>(data), size);
  unpacked_ += static_cast<std::int64_t>(size);
  if (unpacked_ > job_.limits.ratio_from && unpacked_ / job_.limits.ratio > packed_) {
    return too_large("it grows to more than " + std::to_string(job_.limits.ratio) +
                         " times its size when it is decompressed, as bombs do",
                     "ratio=" + std::to_string(job_.limits.ratio));
  }
  unpacked_hash_.add(data, size);
  const std::size_t last = bytes.find_last_not_of('\0');
  zeros_ = last == bytes.npos ? zeros_ + static_cast<std::int64_t>(size)
                              : static_cast<std::int64_t>(size - last - 1);
  return bytes;
}

Result<void> Stream::drain() {
  for (;;) {
    auto bytes = read();
    if (!bytes) return tl::unexpected(std::move(bytes).error());
    if (bytes->empty()) break;
  }
  // What follows the compressed stream belongs to the archive's bytes, too.
  for (const void* data = nullptr;;) {
    const std::int64_t got = fill(&data);
    if (got < 0) return fail_errno(read_error_, "reading the archive");
    if (got == 0) return {};
  }
}

}  // namespace bh::unpack
