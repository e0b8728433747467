// Bytes in and out of operations on files: from wherever the caller has them, to wherever it wants
// them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"
#include "core/operation.h"
#include "core/output_keeper.h"

namespace bh {

// The member `content`, else the attachment, else the run's input, in that order.
struct Content {
  std::string_view data;
  std::string_view media_type;  // of an attachment
  Input* input = nullptr;       // in place of data
  std::string decoded;          // what `data` borrows from, where it was base64

  Content() = default;
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
};

// INVALID_ARGUMENT where there is none of the three: an empty file is asked for with an empty
// `content`. Borrows from both. [any]
Result<void> take_content(Call& call, const Arguments& args, Content& out);

// The schema of `content`.
extern const char kContentSchema[];
// What OperationSpec.input says of it.
extern const char kContentInput[];

// BH_STREAM_DATA, counted and handed on, or kept for the result: 256 KiB of head and tail.
class DataSink final : public PassSink {
 public:
  DataSink(Call& up, bool collect) : PassSink(up), collect_(collect) {}
  bh_status emit(Call& from, int stream, std::string_view bytes) override;
  // The members `sent`, and `content` where it was collected.
  void tell(json::object& result);

 private:
  const bool collect_;
  std::mutex mutex_;
  std::int64_t sent_ = 0;
  OutputKeeper kept_;
};

}  // namespace bh
