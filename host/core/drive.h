// One function of a plugin, called on behalf of a call of the host's, and what it came to.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "core/call.h"

namespace bh {

// The error with what was done before it: details.partial.
Error with_partial(Error error, const std::string& partial_json);

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
                "exception");
  }
  auto done = call.outcome(returned, who);
  if (!done) {
    Error error = std::move(done).error();
    if (call.has_result()) error = with_partial(std::move(error), call.take_result());
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

}  // namespace bh
