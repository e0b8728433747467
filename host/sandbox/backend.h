// An isolation provider, opened, and its sandboxes' handles, as the rooms above use them.
#pragma once

#include <bulkhead/isolation.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"
#include "core/drive.h"
#include "loader/tables.h"

namespace bh {

// Shared by the sandboxes made through it. All functions [any].
class Backend {
 public:
  // `self` as open() gave it; closed with this.
  Backend(const Provider& provider, const bh_host* host, void* self);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend();

  const std::string& id() const { return provider_.id; }
  const Provider& provider() const { return provider_; }
  const bh_isolation& table() const { return table_; }
  const bh_host* host() const { return host_; }
  void* self() const { return self_; }
  std::string who(const char* function) const { return provider_.plugin + ", " + function; }

  // The backend's report as it gives it. `profile` is what its schema lists.
  Result<json::object> plan(Call& up, const std::string& profile) const;
  Result<json::object> create(Call& up, const std::string& id, const std::string& profile,
                              void** handle) const;
  // NOT_FOUND: it is gone.
  Result<json::object> find(Call& up, const std::string& id, void** handle) const;
  Result<void> destroy(Call& up, const std::string& id) const;

 private:
  Result<json::object> report_of(Result<std::string> result, const char* function) const;

  const Provider& provider_;
  const bh_isolation& table_;
  const bh_host* const host_;
  void* const self_;
};

}  // namespace bh
