// Reads a job's output from any byte on, in any process, also while it is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "state/data_root.h"

namespace bh {

// One thread's.
class JobReader {
 public:
  // Output that is not there any more reads as all skipped.
  JobReader(const DataRoot& root, const std::string& job, std::int64_t cursor);

  struct Progress {
    std::int64_t bytes = 0;
    std::int64_t kept_from = 0;
    bool ended = false;
  };
  // False: it is damaged or gone.
  bool progress(Progress* out) const;
  // Where the last byte that can be read ends; for where progress() failed.
  std::int64_t last_byte();

  struct Piece {
    int stream = 0;  // 0: nothing is left below `until`
    std::string_view data;  // until the next call
  };
  // What comes next: bytes of one stream, at most `most` and none from `until` on. `until` must be no
  // more than progress() said. Bytes that are not kept, or damaged, are skipped.
  Piece next(std::int64_t until, std::size_t most);

  std::int64_t cursor() const { return cursor_; }
  std::int64_t skipped() const { return skipped_; }

 private:
  // Begins the file that `first_byte` lies in, or the one that follows `after`.
  bool open_file(std::int64_t wanted, std::int64_t after);
  std::string_view read_at(std::int64_t offset, std::size_t size);
  bool next_head();
  void skip_to(std::int64_t byte);

  Fd folder_;
  std::int64_t cursor_;
  std::int64_t skipped_ = 0;

  Fd file_;
  std::int64_t first_ = -1;     // its first byte
  std::int64_t offset_ = 0;     // in the file
  std::int64_t position_ = 0;   // which byte lies there
  std::int64_t piece_left_ = 0; // of the piece that it is in
  int stream_ = 0;

  std::string block_;           // of the file, from block_at_ on
  std::int64_t block_at_ = 0;
  std::string out_;
};

}  // namespace bh
