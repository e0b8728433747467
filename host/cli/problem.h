// Why the program cannot do what it was asked: one sentence, the next step, the exit code.
#pragma once

#include <bulkhead/host.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "cli/words.h"

namespace bh::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitToolError = 1;    // the tool ran and says that it failed
inline constexpr int kExitTimeLimit = 124;  // as timeout(1) has it
inline constexpr int kExitOurs = 125;       // Bulkhead's failure, not the command's
inline constexpr int kExitSignal = 128;     // + the signal's number

struct Problem {
  std::string message;  // without a full stop; says field and reason
  std::string remedy;   // may be empty
  int exit_code = kExitOurs;
};

template <class T>
using Result = tl::expected<T, Problem>;

inline tl::unexpected<Problem> problem(std::string message, std::string remedy = {},
                                       int exit_code = kExitOurs) {
  return tl::unexpected<Problem>(Problem{std::move(message), std::move(remedy), exit_code});
}

// The library's fault in the program's words: its details may carry a "remedy".
Problem from_fault(const bulkhead::Fault& fault, const Named& named = {});

// {"error":{"code":"NOT_FOUND","message":…,"details":{…}}}, for --json: the sentences are the
// program's, the other details the library's.
std::string fault_json(const bulkhead::Fault& fault, const Named& named = {});

// "bulkhead: MESSAGE (REMEDY)\n", with nothing in it that a terminal would obey.
std::string sentence(const Problem& p);

// Prints the sentence to stderr and returns the exit code.
int fail(const Problem& p);

}  // namespace bh::cli
