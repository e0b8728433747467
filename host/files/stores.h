// The file store that the operator chose: opened on first use, kept, closed with the host.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/call.h"
#include "files/settings.h"
#include "files/store.h"
#include "state/data_root.h"

namespace bh {

// All [any] [blocking] but for close().
class Stores {
 public:
  // Finds a provider of file stores by id, loading its plugin; NOT_FOUND where there is none.
  using Find = std::function<Result<const Provider*>(const std::string& id)>;
  using Names = std::function<std::vector<std::string>()>;
  using HostOf = std::function<const bh_host*(const std::string& plugin)>;

  Stores(const DataRoot& root, const FilesSettings& settings, Find find, Names names,
         HostOf host_of);

  // UNAVAILABLE (store_unavailable) with the remedy where there is none or it cannot be opened; a
  // configuration that it refuses is INVALID_ARGUMENT with the field.
  Result<std::shared_ptr<const Store>> get(Call& up);

  // No call is left that uses it. [last]
  void close();

 private:
  Result<std::shared_ptr<const Store>> open(Call& up);

  const DataRoot& root_;
  const FilesSettings& settings_;
  const Find find_;
  const Names names_;
  const HostOf host_of_;
  std::mutex mutex_;
  std::shared_ptr<const Store> open_;
};

}  // namespace bh
