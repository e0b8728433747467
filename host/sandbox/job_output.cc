#include "sandbox/job_output.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/beneath.h"

namespace bh {

namespace job_files {

namespace {
constexpr std::string_view kPrefix = "out-";
constexpr std::size_t kDigits = 16;
}  // namespace

std::string folder(const std::string& job) { return "jobs/" + job; }

std::string name(std::int64_t first_byte) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(first_byte));
  return std::string(kPrefix) + digits;
}

std::int64_t first_byte(std::string_view name) {
  if (name.size() != kPrefix.size() + kDigits || name.substr(0, kPrefix.size()) != kPrefix) return -1;
  const std::string digits(name.substr(kPrefix.size()));
  if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) return -1;
  return static_cast<std::int64_t>(std::strtoull(digits.c_str(), nullptr, 16));
}

}  // namespace job_files

Result<JobOutput> JobOutput::make(const DataRoot& root, const std::string& job,
                                  std::int64_t window) {
  auto made = make_folder_beneath(root.fd(), job_files::folder(job), 0700);
  if (!made) return tl::unexpected(std::move(made).error());
  auto folder = open_beneath(root.fd(), job_files::folder(job), O_RDONLY | O_DIRECTORY);
  if (!folder) return tl::unexpected(std::move(folder).error());
  auto progress = open_beneath(folder->get(), job_files::kProgress, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!progress) return tl::unexpected(std::move(progress).error());
  JobOutput out(std::move(*folder), std::move(*progress), window);
  out.tell(false);
  return out;
}

JobOutput::JobOutput(JobOutput&& other) noexcept
    : folder_(std::move(other.folder_)),
      progress_(std::move(other.progress_)),
      window_(other.window_),
      file_(std::move(other.file_)),
      files_(std::move(other.files_)),
      on_disk_(other.on_disk_),
      bytes_(other.bytes_) {}

// A sixteenth of the window goes at a time.
bool JobOutput::next_file() {
  const std::string name = job_files::name(bytes_);
  Fd file(::openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                   0600));
  if (!file) return false;
  file_ = std::move(file);
  files_.push_back({bytes_, 0});
  return true;
}

void JobOutput::make_room(std::int64_t size) {
  while (files_.size() > 1 && on_disk_ + size > window_) {
    (void)::unlinkat(folder_.get(), job_files::name(files_.front().first).c_str(), 0);
    on_disk_ -= files_.front().size;
    files_.pop_front();
  }
}

std::size_t JobOutput::keep(int stream, std::string_view piece) {
  job_files::Head head{job_files::kMark + static_cast<std::uint32_t>(stream),
                       static_cast<std::uint32_t>(piece.size())};
  const auto whole = static_cast<std::int64_t>(sizeof head + piece.size());
  if (!file_ || files_.back().size >= window_ / 16) {
    file_.reset();
    if (!next_file()) return 0;
  }
  make_room(whole);
  const iovec parts[] = {{&head, sizeof head}, {const_cast<char*>(piece.data()), piece.size()}};
  const auto written = ::writev(file_.get(), parts, 2);
  if (written > 0) {
    files_.back().size += written;
    on_disk_ += written;
  }
  if (written == whole) return piece.size();
  // The disk is full, or a limit on files was reached.
  return written > static_cast<std::int64_t>(sizeof head)
             ? static_cast<std::size_t>(written) - sizeof head
             : 0;
}

void JobOutput::end_file() {
  if (!file_) return;
  file_.reset();
  // A full disk takes names longer than bytes.
  if (files_.back().size != 0) return;
  (void)::unlinkat(folder_.get(), job_files::name(files_.back().first).c_str(), 0);
  files_.pop_back();
}

void JobOutput::append(int stream, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, job_files::kLargest);
    bytes.remove_prefix(piece.size());
    const std::size_t kept = keep(stream, piece);
    bytes_ += static_cast<std::int64_t>(piece.size());
    // What follows a gap begins a file, whose name says where it is; in this one it would be taken for
    // the rest of the piece.
    if (kept != piece.size()) end_file();
  }
  tell(false);
}

void JobOutput::skip(std::int64_t bytes) {
  if (bytes <= 0) return;
  std::lock_guard lock(mutex_);
  end_file();
  bytes_ += bytes;
  tell(false);
}

void JobOutput::end() {
  std::lock_guard lock(mutex_);
  end_file();
  tell(true);
}

std::int64_t JobOutput::kept_from_locked() const {
  return files_.empty() ? bytes_ : files_.front().first;
}

// Written after the bytes that it counts: what it says is there can be read.
void JobOutput::tell(bool ended) {
  const job_files::Progress now{job_files::kMark, ended ? 1u : 0u, bytes_, kept_from_locked()};
  (void)!::pwrite(progress_.get(), &now, sizeof now, 0);
}

std::int64_t JobOutput::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::int64_t JobOutput::kept_from() const {
  std::lock_guard lock(mutex_);
  return kept_from_locked();
}

}  // namespace bh
