// A file store's provider, opened: its functions with the host's types. Paths are whole, as the
// store knows them.
#pragma once

#include <bulkhead/filestore.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/call.h"
#include "loader/tables.h"

namespace bh {

// One file or folder, as a store tells of it.
struct StoredFile {
  std::string name;  // relative to what was listed; empty for stat()
  int kind = BH_FILE_OTHER;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string etag;
  std::string media_type;
};

// What to write, and when not to. Borrowed for the call.
struct StoreWrite {
  std::string_view if_etag;  // empty: any; "*": there must be none
  std::string_view media_type;
  std::string_view data;
  Input* input = nullptr;  // in place of data
};

struct StoreWritten {
  std::int64_t size = 0;
  std::string etag;
};

// All functions [any] [blocking]; errors are the store's own.
class Store {
 public:
  // `self` as open() gave it; closed with this.
  Store(const Provider& provider, const bh_host* host, void* self);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  const std::string& id() const { return provider_.id; }

  Result<StoredFile> stat(Call& up, const std::string& path) const;
  // Each in the store's order, until one says false. [serial]
  using Each = std::function<bool(const StoredFile&)>;
  Result<void> list(Call& up, const std::string& path, bool recursive, const std::string& after,
                    const Each& each) const;
  Result<void> read(Call& up, const std::string& path, std::int64_t offset, std::int64_t size,
                    Sink& sink) const;
  Result<StoreWritten> write(Call& up, const std::string& path, const StoreWrite& what) const;
  Result<void> remove(Call& up, const std::string& path, bool recursive) const;

 private:
  std::string who(const char* function) const { return provider_.plugin + ", " + function; }

  const Provider& provider_;
  const bh_filestore& table_;
  const bh_host* const host_;
  void* const self_;
};

}  // namespace bh
