#include "sandbox/job_reader.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/beneath.h"
#include "sandbox/job_output.h"

namespace bh {
namespace {

constexpr std::size_t kBlock = 128u << 10;

// The first bytes of all files of output, in order.
std::vector<std::int64_t> files_in(int folder) {
  std::vector<std::int64_t> out;
  Fd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* dir = again ? ::fdopendir(again.get()) : nullptr;
  if (dir == nullptr) return out;
  (void)again.release();
  while (const dirent* entry = ::readdir(dir)) {
    const std::int64_t first = job_files::first_byte(entry->d_name);
    if (first >= 0) out.push_back(first);
  }
  ::closedir(dir);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

JobReader::JobReader(const DataRoot& root, const std::string& job, std::int64_t cursor)
    : cursor_(cursor) {
  if (auto folder = open_beneath(root.fd(), job_files::folder(job), O_RDONLY | O_DIRECTORY)) {
    folder_ = std::move(*folder);
  }
}

bool JobReader::progress(Progress* out) const {
  if (!folder_) return false;
  Fd file(::openat(folder_.get(), job_files::kProgress, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  job_files::Progress read{};
  if (!file || ::pread(file.get(), &read, sizeof read, 0) != sizeof read ||
      read.mark != job_files::kMark || read.bytes < 0 || read.kept_from < 0 ||
      read.kept_from > read.bytes) {
    return false;
  }
  *out = {read.bytes, read.kept_from, read.ended != 0};
  return true;
}

std::int64_t JobReader::last_byte() {
  if (!folder_) return 0;
  std::vector<std::int64_t> files = files_in(folder_.get());
  if (files.empty() || !open_file(files.back(), -1)) return 0;
  std::int64_t end = position_;
  while (next_head()) {
    const std::int64_t there = static_cast<std::int64_t>(
        std::max<off_t>(0, ::lseek(file_.get(), 0, SEEK_END)) - offset_);
    end = position_ + std::clamp<std::int64_t>(there, 0, piece_left_);
    offset_ += piece_left_;
    position_ += piece_left_;
    piece_left_ = 0;
  }
  file_.reset();
  first_ = -1;
  return end;
}

bool JobReader::open_file(std::int64_t wanted, std::int64_t after) {
  // A file may be dropped between the look and the opening; there are newer ones then.
  for (int tries = 0; folder_ && tries < 100; tries++) {
    std::vector<std::int64_t> files = files_in(folder_.get());
    std::int64_t best = -1;
    for (const std::int64_t first : files) {
      if (first <= after) continue;
      if (best >= 0 && (after >= 0 || first > wanted)) break;
      best = first;
    }
    if (best < 0) return false;
    Fd file(::openat(folder_.get(), job_files::name(best).c_str(),
                     O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
      // What is no file of ours is passed over.
      if (errno != ENOENT) after = best;
      continue;
    }
    file_ = std::move(file);
    first_ = position_ = best;
    offset_ = piece_left_ = 0;
    block_.clear();
    block_at_ = 0;
    return true;
  }
  return false;
}

// What is there of it; a view into the block.
std::string_view JobReader::read_at(std::int64_t offset, std::size_t size) {
  auto held = static_cast<std::int64_t>(block_.size());
  if (offset < block_at_ || offset + static_cast<std::int64_t>(size) > block_at_ + held) {
    block_.resize(kBlock);
    const auto got = ::pread(file_.get(), block_.data(), block_.size(), offset);
    block_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    block_at_ = offset;
    held = static_cast<std::int64_t>(block_.size());
  }
  const auto from = static_cast<std::size_t>(offset - block_at_);
  return std::string_view(block_).substr(std::min(from, block_.size()), size);
}

bool JobReader::next_head() {
  job_files::Head head{};
  const std::string_view bytes = read_at(offset_, sizeof head);
  if (bytes.size() != sizeof head) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::uint32_t stream = head.mark - job_files::kMark;
  if (stream < 1 || stream > 2 || head.size == 0 || head.size > job_files::kLargest) return false;
  stream_ = static_cast<int>(stream);
  offset_ += sizeof head;
  piece_left_ = head.size;
  return true;
}

void JobReader::skip_to(std::int64_t byte) {
  if (byte <= cursor_) return;
  skipped_ += byte - cursor_;
  cursor_ = byte;
}

JobReader::Piece JobReader::next(std::int64_t until, std::size_t most) {
  out_.clear();
  int stream = 0;
  while (cursor_ < until && out_.size() < most) {
    if (!file_ && !open_file(cursor_, -1)) {
      if (!out_.empty()) break;
      skip_to(until);
      break;
    }
    if (piece_left_ == 0 && !next_head()) {
      // All below `until` was written before we were told of it: what this file lacks comes in the
      // next one, or never.
      if (!out_.empty()) break;
      if (!open_file(cursor_, first_)) skip_to(until);
      continue;
    }
    if (position_ < cursor_) {
      const std::int64_t over = std::min(piece_left_, cursor_ - position_);
      offset_ += over;
      position_ += over;
      piece_left_ -= over;
      continue;
    }
    if (!out_.empty() && (stream_ != stream || position_ != cursor_)) break;
    skip_to(std::min(position_, until));
    if (cursor_ >= until) break;
    const auto want = static_cast<std::size_t>(
        std::min<std::int64_t>({piece_left_, until - cursor_,
                                static_cast<std::int64_t>(most - out_.size())}));
    const std::string_view bytes = read_at(offset_, want);
    if (bytes.empty()) {
      // The piece was cut short.
      if (!out_.empty()) break;
      piece_left_ = 0;
      if (!open_file(cursor_, first_)) skip_to(until);
      continue;
    }
    stream = stream_;
    out_ += bytes;
    const auto size = static_cast<std::int64_t>(bytes.size());
    offset_ += size;
    position_ += size;
    piece_left_ -= size;
    cursor_ += size;
  }
  if (out_.empty()) return {};
  return {stream, out_};
}

}  // namespace bh
