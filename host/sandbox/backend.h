// An isolation provider, opened, and its sandboxes' handles, as the rooms above use them.
#pragma once

#include <bulkhead/isolation.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/call.h"
#include "loader/tables.h"

namespace bh {

Error with_partial_result(Error error, const std::string& json);

// Runs one function of a plugin below `up`, and turns what it came to into a Result. The result's
// text is the plugin's, checked to be JSON. `f` gets the bh_call.
template <class F>
Result<std::string> drive_with(Call& up, const CallOptions& options, const std::string& who,
                               Sink& sink, Input& input, F f) {
  Call call(up, sink, input, options);
  bh_status returned = BH_INTERNAL;
  try {
    returned = f(static_cast<bh_call*>(&call));
  } catch (...) {
    return fail(BH_INTERNAL, who + " let an exception out; that is a fault of the plugin",
                "plugin_exception");
  }
  auto done = call.outcome(returned, who);
  if (!done) {
    Error error = std::move(done).error();
    if (call.has_result()) error = with_partial_result(std::move(error), call.take_result());
    return tl::unexpected(std::move(error));
  }
  return call.take_result();
}

// The same with nothing but the plugin's view of the host.
template <class F>
Result<std::string> drive(Call& up, const bh_host* host, const std::string& who, Sink& sink,
                          Input& input, F f) {
  CallOptions options;
  options.host = host;
  return drive_with(up, options, who, sink, input, std::move(f));
}

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
