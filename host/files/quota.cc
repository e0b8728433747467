#include "files/quota.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "core/clock.h"

namespace bh {
namespace {

// Whoever holds the lock lists an area and has a store take a file that has arrived.
constexpr std::int64_t kShortest = kSecond / 1000;
constexpr std::int64_t kLongest = kSecond / 20;

}  // namespace

Quota::Quota(const DataRoot& root, const Store& store, std::int64_t limit, std::string area,
             std::string path)
    : root_(root), store_(store), limit_(limit), area_(std::move(area)), path_(std::move(path)) {}

Result<std::int64_t> Quota::others(Call& call) const {
  std::int64_t total = 0;
  const std::string own = path_.substr(std::min(path_.size(), area_.size() + 1));
  auto listed = store_.list(call, area_, true, {}, [&](const StoredFile& file) {
    if (file.kind == BH_FILE_REGULAR && file.name != own) total += std::max<std::int64_t>(file.size, 0);
    return true;
  });
  if (!listed && listed.error().code != BH_NOT_FOUND) {
    return tl::unexpected(std::move(listed).error());
  }
  return total;
}

Error Quota::exceeded(std::int64_t size) const {
  json::object details;
  details["reason"] = "quota";
  details["quota"] = "files.max_bytes";
  details["limit"] = limit_;
  details["size"] = size;
  details["remedy"] =
      "delete files that are no longer needed, or have the operator raise files.max_bytes";
  Error error;
  error.code = BH_RESOURCE_EXHAUSTED;
  error.message = "your files may take " + std::to_string(limit_) + " bytes together, of which " +
                  std::to_string(std::max<std::int64_t>(allowed_, 0)) + " are left for this one";
  error.details = json::print(details);
  return error;
}

Result<void> Quota::begin(Call& call) {
  if (limit_ == 0) return {};
  auto taken = others(call);
  if (!taken) return tl::unexpected(std::move(taken).error());
  allowed_ = limit_ - *taken;
  if (allowed_ < 0) return tl::unexpected(exceeded(0));
  return {};
}

Result<void> Quota::settle(Call& call, std::int64_t size) {
  if (limit_ == 0) return {};
  for (std::int64_t pause = kShortest; !lock_; pause = std::min(2 * pause, kLongest)) {
    auto tried = NameLock::try_take(root_, "files-" + area_);
    if (!tried) return tl::unexpected(std::move(tried).error());
    lock_ = std::move(*tried);
    if (lock_) break;
    if (bh_status st = call.wait(pause)) return tl::unexpected(stop_error(st));
  }
  BH_TRY(begin(call));
  if (size > allowed_) return tl::unexpected(exceeded(size));
  return {};
}

bh_status QuotaInput::receive(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  if (bh_status st = from_.receive(call, buffer, size, got)) return st;
  total_ += static_cast<std::int64_t>(*got);
  if (*got > 0) {
    if (total_ <= quota_.allowed()) return BH_OK;
    *got = 0;
    return call.record(quota_.exceeded(total_));
  }
  if (settled_) return BH_OK;
  if (auto good = quota_.settle(call, total_); !good) return call.record(std::move(good).error());
  settled_ = true;
  return BH_OK;
}

}  // namespace bh
