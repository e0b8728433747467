// A function of a plugin, called as the rooms above call one: below an operation, through bh_call.
#pragma once

#include <bulkhead/toolset.h>

#include <set>
#include <string>
#include <string_view>

#include "core/call.h"
#include "core/drive.h"
#include "core/engine.h"
#include "core/sink.h"

namespace bh_test {

template <class F>
bh::Result<void> as_plugin(bh::Call& up, F function, bh::CallOptions options = {}) {
  bh::PassSink out(up);
  bh::Call call(up, out, up.input(), options);
  bh_status returned = function(static_cast<bh_call*>(&call));
  auto done = call.outcome(returned, "org.example.test");
  std::string result = call.has_result() ? call.take_result() : "null";
  if (!done) {
    bh::Error error = std::move(done).error();
    if (result != "null") error = bh::with_partial(std::move(error), result);
    return tl::unexpected(std::move(error));
  }
  return up.set_result(result);
}

inline bh_status say_result(bh_call* call, std::string_view json) {
  return call->api->result(call, json.data(), json.size());
}
inline bh_status say_fail(bh_call* call, bh_status code, std::string_view message,
                          std::string_view details = {}) {
  return call->api->fail(call, code, message.data(), message.size(), details.data(),
                         details.size());
}
inline const bh_operations* operations_of(bh_call* call) {
  return static_cast<const bh_operations*>(call->api->get_service(call, BH_OPERATIONS));
}
inline bh_status run_nested(bh_call* call, std::string_view operation, std::string_view args,
                            const bh_run_io& io, const bh_blob* const* blobs = nullptr,
                            std::size_t count = 0) {
  return operations_of(call)->run(call, operation.data(), operation.size(), args.data(),
                                  args.size(), blobs, count, &io);
}
inline bh_run_io io_with(std::uint32_t flags) {
  bh_run_io io{};
  io.struct_size = sizeof io;
  io.flags = flags;
  return io;
}

}  // namespace bh_test
