// The file store as personas see it: each its own files, none another's, whatever they are called.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/call.h"
#include "files/settings.h"
#include "files/store.h"
#include "files/stores.h"
#include "state/data_root.h"

namespace bh {

// What a session's paths mean: those of its persona. The operator's session has the area of the
// persona that it names, too; it reads nobody else's.
//
// All [any] [blocking]. Errors beside those of check_store_path() and Stores::get(): file_not_found,
// file_exists (if_etag "*"), etag_mismatch, quota, and what the store says itself.
class Files {
 public:
  Files(const DataRoot& root, const FilesSettings& settings, Stores& stores);

  Result<StoredFile> stat(Call& up, std::string_view path);

  struct Listing {
    std::int64_t count = 0;
    std::string next;  // `after` of the next page; empty: this was the last
  };
  // At most `limit` entries behind `after`. An area in which nothing was ever put is empty. A Status
  // of `each` other than BH_OK ends it.
  using Each = std::function<bh_status(const StoredFile&)>;
  Result<Listing> list(Call& up, std::string_view path, bool recursive, const std::string& after,
                       std::int64_t limit, const Each& each);

  // The bytes go to `sink` as BH_STREAM_DATA. What is told is the file whose bytes they were; one
  // that was replaced meanwhile is ABORTED (file_changed). size < 0: to the end.
  Result<StoredFile> read(Call& up, std::string_view path, std::int64_t offset, std::int64_t size,
                          Sink& sink);

  // All or nothing.
  Result<StoreWritten> write(Call& up, std::string_view path, const StoreWrite& what);

  Result<void> remove(Call& up, std::string_view path, bool recursive);

 private:
  struct Place {
    std::shared_ptr<const Store> store;
    std::string area, path;  // whole
  };
  Result<Place> place(Call& up, std::string_view path, bool may_be_empty = false);

  const DataRoot& root_;
  const FilesSettings& settings_;
  Stores& stores_;
};

}  // namespace bh
