#include <exception>

#include "cli/output.h"
#include "cli/parse.h"
#include "cli/problem.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

int dispatch(const Options& options) {
  Surroundings around = Surroundings::now();
  switch (options.verb) {
    case Verb::kDoctor:
      return verb_doctor(options, around);
    case Verb::kPlugins:
      return verb_plugins(options, around);
    case Verb::kTools:
      return verb_tools(options, around);
    case Verb::kCall:
      return verb_call(options, around);
    case Verb::kRun:
      return verb_run(options, around);
    case Verb::kMcp:
      return verb_mcp(options, around);
    case Verb::kImage:
      return verb_image(options, around);
    case Verb::kVersion:
      return verb_version(options, around);
    case Verb::kNone:
      break;
  }
  return fail(Problem{"bulkhead needs a verb", "see `bulkhead --help`"});
}

}  // namespace

int program(const std::vector<std::string>& arguments) {
  try {
    Result<Options> options = parse_arguments(arguments);
    if (!options) return fail(options.error());
    if (!options->help.empty()) return print(options->help) ? kExitOk : kExitOurs;
    return dispatch(*options);
  } catch (const std::exception& e) {
    return fail(Problem{std::string("a bug in bulkhead: ") + e.what(), {}});
  }
}

}  // namespace bh::cli
