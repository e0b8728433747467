// host/operations.md, written from the schemas.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "core/operation.h"
#include "operations/catalogue.h"

namespace bh_test {

inline std::string yes_no(bool b) { return b ? "yes" : "no"; }

// The profile is told once, at sandbox.create: elsewhere a word stands for it.
inline void shorten(bh::json::value& v, const bh::json::value& profile) {
  if (v == profile) {
    v = {{"type", "object"}, {"description", "As of sandbox.create."}};
  } else if (v.is_object()) {
    for (auto& member : v.get_object()) shorten(member.value(), profile);
  } else if (v.is_array()) {
    for (auto& one : v.get_array()) shorten(one, profile);
  }
}

inline std::string operations_markdown(const bh::Catalogue& catalogue) {
  std::string out =
      "# Operations\n\n"
      "What the host offers, to embedders (`bh_request_new`), to the program and to toolsets alike\n"
      "(`bh.call.operations/1`). A bare name is its first major: `sandbox.exec` is `sandbox.exec/1`. "
      "Arguments\nare one JSON object that satisfies the schema below; a key that is not listed is refused "
      "by name.\nAn operation ends with one result or one fault, whose `details.reason` is a word from\n"
      "`abi/errors.md`; beside those listed here stand the ones that any call can end with.\n\n"
      "**lane**: `control` has workers of its own and never waits behind a full house. **quick**: never "
      "waits\nfor others, so it fits `bh_do` on any thread. **repeatable**: twice does no more than once.\n\n"
      "Written from the schemas by `build/dev/tests/operations_md`; a test compares.\n";
  for (const auto& [name, entry] : catalogue.entries()) {
    const bh::OperationSpec& spec = entry.spec;
    out += "\n## " + spec.name + "/" + std::to_string(spec.major) + "\n\n" + spec.summary + "\n\n";
    out += "| lane | quick | repeatable | input | output |\n| --- | --- | --- | --- | --- |\n| ";
    out += std::string(spec.lane == bh::Lane::kControl ? "control" : "work") + " | " +
           yes_no(spec.quick) + " | " + yes_no(spec.repeatable) + " | " +
           (spec.input.empty() ? "none" : spec.input) + " | " +
           (spec.output.empty() ? "none" : spec.output) + " |\n\n";
    bh::json::value args = bh::json::parse(spec.args_schema).value();
    if (spec.name != "sandbox.create") {
      shorten(args, bh::json::parse(bh::wished_profile_schema()).value());
    }
    out += "Arguments:\n\n```json\n" + bh::json::print_pretty(args) + "\n```\n\n";
    if (spec.result_schema.empty()) {
      out += "Result: null.\n";
    } else {
      out += "Result:\n\n```json\n" +
             bh::json::print_pretty(bh::json::parse(spec.result_schema).value()) + "\n```\n";
    }
    if (spec.reasons.empty()) continue;
    out += "\nReasons: ";
    for (std::size_t i = 0; i < spec.reasons.size(); i++) {
      out += (i > 0 ? ", `" : "`") + spec.reasons[i] + "`";
    }
    out += ".\n";
  }
  return out;
}

}  // namespace bh_test
