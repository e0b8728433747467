// bulkhead/sdk/file_info.hpp - where a stat() or list() of files puts what it finds.
#ifndef BULKHEAD_SDK_FILE_INFO_HPP
#define BULKHEAD_SDK_FILE_INFO_HPP

#include <bulkhead/file_info.h>

#include "result.hpp"

namespace bulkhead::sdk {

// Where the files of a stat() or list() go. A Status that is not ok ends it.
class EachFile {
 public:
  EachFile(bh_file_fn f, void* ctx) : f_(f), ctx_(ctx) {}
  Status operator()(const bh_file_info& info) const { return Status::from(f_(ctx_, &info)); }

 private:
  bh_file_fn f_;
  void* ctx_;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_FILE_INFO_HPP
