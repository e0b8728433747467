// What a job writes, kept in DATA_ROOT/jobs/ID for whoever attaches later: a window on the latest of
// it, as files that each begin at a known byte, so that old output goes by removing a file and what is
// damaged costs no more than the file it is in.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "state/data_root.h"

namespace bh {

// How it lies on the disk; the writer and the readers share it.
namespace job_files {

// Stands in front of each piece.
struct Head {
  std::uint32_t mark;  // kMark + the stream
  std::uint32_t size;
};
inline constexpr std::uint32_t kMark = 0xb70b5000;
inline constexpr std::uint32_t kLargest = 64u << 10;

// The file "progress". Its members only grow, so a mixture of an older and a newer one does no harm.
struct Progress {
  std::uint32_t mark;
  std::uint32_t ended;
  std::int64_t bytes;
  std::int64_t kept_from;
};

inline constexpr char kProgress[] = "progress";
std::string folder(const std::string& job);      // beneath DATA_ROOT
std::string name(std::int64_t first_byte);        // of a file of output
std::int64_t first_byte(std::string_view name);  // -1: it is none

}  // namespace job_files

class JobOutput {
 public:
  static constexpr std::int64_t kWindow = 64 << 20;

  // Its folder is made. At most `window` bytes of the disk are used, heads included.
  static Result<JobOutput> make(const DataRoot& root, const std::string& job,
                                std::int64_t window = kWindow);
  JobOutput(JobOutput&& other) noexcept;  // while nobody else uses it

  // Cannot fail: what the disk does not take is counted as if it had been dropped later. [any]
  void append(int stream, std::string_view bytes);
  // Bytes that were lost before they came here. [any]
  void skip(std::int64_t bytes);
  // Nothing more comes. Whoever waits for more looks at the job's record next. [any]
  void end();

  std::int64_t bytes() const;      // all that came
  std::int64_t kept_from() const;  // the first that can still be read

 private:
  struct File {
    std::int64_t first;
    std::int64_t size;
  };

  JobOutput(Fd folder, Fd progress, std::int64_t window)
      : folder_(std::move(folder)), progress_(std::move(progress)), window_(window) {}
  // How many bytes of it were kept.
  std::size_t keep(int stream, std::string_view piece);
  bool next_file();
  void end_file();
  void make_room(std::int64_t size);
  std::int64_t kept_from_locked() const;
  void tell(bool ended);

  Fd folder_, progress_;
  const std::int64_t window_;
  mutable std::mutex mutex_;
  Fd file_;                // the last of files_; closed where it takes no more
  std::deque<File> files_;
  std::int64_t on_disk_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace bh
