// How much one persona may keep, whatever the store: counted from the store's own list, and settled
// under a lock of DATA_ROOT between threads and processes, held only from a file's last byte until
// the store has taken it. What is kept never exceeds the limit; what is still on its way may lie
// beside it meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/input.h"
#include "files/store.h"
#include "state/data_root.h"

namespace bh {

// One write, from before its first byte until it is done.
class Quota {
 public:
  // `area`: the persona's folder in the store; `path`: what is written, whole. limit 0: none.
  Quota(const DataRoot& root, const Store& store, std::int64_t limit, std::string area,
        std::string path);
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  // Before the bytes come: what would be left for this file, so that a stream without an end stops
  // early. RESOURCE_EXHAUSTED (quota) where nothing is.
  Result<void> begin(Call& call);
  // For `size` bytes, all in all; takes the lock, which goes with this object. The same error.
  Result<void> settle(Call& call, std::int64_t size);

  std::int64_t allowed() const { return allowed_; }
  Error exceeded(std::int64_t size) const;

 private:
  // What all else in the area takes.
  Result<std::int64_t> others(Call& call) const;

  const DataRoot& root_;
  const Store& store_;
  const std::int64_t limit_;
  const std::string area_, path_;
  std::int64_t allowed_ = 0;
  std::optional<NameLock> lock_;
};

// The bytes of a write: stopped where they are too many, settled at their end.
class QuotaInput final : public Input {
 public:
  QuotaInput(Input& from, Quota& quota) : from_(from), quota_(quota) {}
  bh_status receive(Call& call, void* buffer, std::size_t size, std::size_t* got) override;
  bh_fd fd() override { return from_.fd(); }
  void end() override { from_.end(); }

 private:
  Input& from_;
  Quota& quota_;
  std::int64_t total_ = 0;
  bool settled_ = false;
};

}  // namespace bh
