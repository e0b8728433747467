// bulkhead/sdk/result.hpp - errors as values. A plugin's functions return Status or Result<T>; the
// trampolines turn what they say into the ABI's record and code.
#ifndef BULKHEAD_SDK_RESULT_HPP
#define BULKHEAD_SDK_RESULT_HPP

#include <bulkhead/base.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "../code_name.hpp"
#include "text.hpp"

namespace bulkhead::sdk {

using bulkhead::code_name;

// Why something did not work. Without a message it is a code that the host gave (BH_CANCELLED out
// of emit(), say): it goes back as it came, and nothing is recorded over the host's own reason.
class Failure {
 public:
  explicit Failure(bh_status code) : code_(code == BH_OK ? BH_INTERNAL : code) {}
  Failure(bh_status code, std::string message) : Failure(code) { message_ = std::move(message); }
  // `details` is a JSON object or empty.
  Failure(bh_status code, std::string message, std::string details)
      : Failure(code, std::move(message)) {
    details_ = std::move(details);
  }

  bh_status code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& details() const { return details_; }

 private:
  bh_status code_;
  std::string message_;
  std::string details_;
};

// A failure with a stable reason word (abi/errors.md) and, where they help, the argument that it is
// about and what to do.
inline Failure failure(bh_status code, std::string message, std::string_view reason,
                       std::string_view field = {}, std::string_view remedy = {}) {
  JsonObject details;
  details.text("reason", reason);
  if (!field.empty()) details.text("field", field);
  if (!remedy.empty()) details.text("remedy", remedy);
  return Failure(code, std::move(message), details.str());
}

// Done, or why not.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Failure f) : failure_(std::move(f)) {}  // NOLINT(google-explicit-constructor)
  // What a function of the host answered.
  static Status from(bh_status code) { return code == BH_OK ? Status() : Status(Failure(code)); }

  bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }
  bh_status code() const { return failure_ ? failure_->code() : BH_OK; }
  // Only where !ok().
  const Failure& failure() const& { return *failure_; }
  Failure&& failure() && { return std::move(*failure_); }

 private:
  std::optional<Failure> failure_;
};

// A T, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(Failure f) : state_(std::in_place_index<1>, std::move(f)) {}    // NOLINT
  // A unique_ptr<Derived> where a unique_ptr<Base> is due, and the like.
  template <class U, class = std::enable_if_t<std::is_convertible_v<U&&, T> &&
                                              !std::is_same_v<std::decay_t<U>, T> &&
                                              !std::is_same_v<std::decay_t<U>, Failure> &&
                                              !std::is_same_v<std::decay_t<U>, Result>>>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Only where ok().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  // Only where !ok().
  const Failure& failure() const& { return *std::get_if<1>(&state_); }
  Failure&& failure() && { return std::move(*std::get_if<1>(&state_)); }
  Status status() const { return ok() ? Status() : Status(failure()); }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_RESULT_HPP
