// What went wrong, as a value: a canonical code, a sentence for people, details for programs.
// Every room returns it; api/ turns it into a bh_fault, the call border into bh_call_api.fail().
#pragma once

#include <bulkhead/base.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace bh {

struct Error {
  bh_status code = BH_UNKNOWN;
  std::string message;  // one sentence: what, why, and what would help
  std::string details;  // a JSON object with a stable "reason", or empty

  // The same error seen from further up: "what: message". Code and details stay.
  Error within(std::string_view what) const;
};

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;
using Detail = std::pair<std::string_view, std::string_view>;

// All of them: texts longer than 4 KiB lose their middle.
// An error without details. Only for what no program will ever tell apart.
[[nodiscard]] Failure fail(bh_status code, std::string message);

// `reason` is a word from abi/errors.md; `more` adds text members ("field", "remedy").
[[nodiscard]] Failure fail(bh_status code, std::string message, std::string_view reason,
                           std::initializer_list<Detail> more = {});

// errno as an error: NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED and so on; the message ends
// with the system's text.
[[nodiscard]] Failure fail_errno(int number, std::string what);

// The canonical code of an errno value.
bh_status code_of_errno(int number);

}  // namespace bh

// Leaves the function with the error of `expr`, which is a Result.
#define BH_TRY(expr)                                             \
  do {                                                           \
    if (auto bh_try_result = (expr); !bh_try_result) {           \
      return ::tl::unexpected(std::move(bh_try_result).error()); \
    }                                                            \
  } while (false)
