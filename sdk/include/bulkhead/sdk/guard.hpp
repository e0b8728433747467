// bulkhead/sdk/guard.hpp - the one place where C++ meets the ABI: nothing unwinds past it, and
// every failure leaves with a code and a text.
#ifndef BULKHEAD_SDK_GUARD_HPP
#define BULKHEAD_SDK_GUARD_HPP

#include <exception>

#include "call.hpp"

namespace bulkhead::sdk::detail {

inline bh_status record(bh_call* call, const Failure& f) noexcept {
  // Without a text it is the host's own word, which is handed back untouched.
  if (f.message().empty()) return f.code();
  return call->api->fail(call, f.code(), f.message().data(), f.message().size(), f.details().data(),
                         f.details().size());
}

inline bh_status record_exception(bh_call* call, std::string_view what) noexcept {
  static constexpr std::string_view kDetails = R"({"reason":"exception"})";
  return call->api->fail(call, BH_INTERNAL, what.data(), what.size(), kDetails.data(),
                         kDetails.size());
}

// Runs body(Call&) -> Status and answers as the ABI wants it.
template <class Body>
bh_status guard(bh_call* raw, Body&& body) noexcept {
  try {
    Call call(raw);
    const Status st = body(call);
    return st.ok() ? BH_OK : record(raw, st.failure());
  } catch (const std::exception& e) {
    const char* what = e.what();
    return record_exception(raw, what != nullptr && *what != '\0' ? what : "an exception");
  } catch (...) {
    return record_exception(raw, "an exception that is not a std::exception");
  }
}

// The same for what answers with an object of the plugin's, which goes out as Base*.
template <class Base, class Body>
bh_status guard_object(bh_call* raw, void** out, Body&& body) noexcept {
  return guard(raw, [&](Call& call) -> Status {
    auto made = body(call);
    if (!made.ok()) return std::move(made).failure();
    if (*made == nullptr) {
      return sdk::failure(BH_INTERNAL, "the plugin made no object and gave no reason",
                          "plugin_bug");
    }
    Base* object = (*made).release();
    *out = object;
    return {};
  });
}

}  // namespace bulkhead::sdk::detail

#endif  // BULKHEAD_SDK_GUARD_HPP
