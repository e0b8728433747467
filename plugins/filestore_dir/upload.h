// A file on its way into the store: it has no name that a caller could see until it is whole.
#pragma once

#include "place.h"

namespace filestore_dir {

// Lies in tmp/ and is locked (flock) while its maker lives, so that others can tell. Its size is
// what it has reserved of the quota: that ends with the file, whatever becomes of the process.
// Destroyed before it was committed, it is gone. Of one thread.
class Upload {
 public:
  static sdk::Result<Upload> start(sdk::Call& call, Place& place);
  Upload(Upload&& o) noexcept;
  ~Upload();

  // Behind what came before. RESOURCE_EXHAUSTED: a quota, or the disk.
  sdk::Status append(sdk::Call& call, std::string_view data);
  // No more comes: gets its etag and media type, and reaches the disk.
  sdk::Status finish(sdk::Call& call, std::string_view media_type);
  // Under the Lock: takes the name, in place of what has it. False with errno.
  bool commit(int folder, const std::string& name);

  int64_t size() const { return size_; }
  const std::string& etag() const { return etag_; }

 private:
  Upload(Place& place, std::string name, Fd fd)
      : place_(&place), name_(std::move(name)), fd_(std::move(fd)) {}
  sdk::Status reserve(sdk::Call& call, int64_t to);
  void flush_behind();

  Place* place_;
  std::string name_;  // empty: committed, or moved from
  Fd fd_;
  int64_t size_ = 0;
  int64_t flushed_ = 0;
  std::string etag_;
};

}  // namespace filestore_dir
