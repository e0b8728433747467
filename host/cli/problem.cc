#include "cli/problem.h"

#include <bulkhead/code_name.hpp>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/text.h"

namespace bh::cli {

Problem from_fault(const bulkhead::Fault& fault, const Named& named) {
  Problem p;
  p.exit_code = fault.code() == BH_DEADLINE_EXCEEDED ? kExitTimeLimit : kExitOurs;
  boost::json::object details = parse_object_or_empty(fault.details());
  p.message = fault.message().empty() ? "the library gave no reason"
                                      : message_in_cli_words(fault.message(), details, named);
  p.remedy = in_cli_words(string_at(details, "remedy"), named);
  // Some messages say the remedy already; nobody needs it twice.
  if (p.message.find(p.remedy) != std::string::npos) p.remedy.clear();
  return p;
}

std::string fault_json(const bulkhead::Fault& fault, const Named& named) {
  boost::json::object details = parse_object_or_empty(fault.details());
  boost::json::object error;
  error["code"] = bulkhead::code_name(fault.code());
  error["message"] = message_in_cli_words(fault.message(), details, named);
  if (details.contains("remedy")) {
    details["remedy"] = in_cli_words(string_at(details, "remedy"), named);
  }
  error["details"] = std::move(details);
  boost::json::object all;
  all["error"] = std::move(error);
  return boost::json::serialize(all);
}

std::string sentence(const Problem& p) {
  std::string_view message = p.message;
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) {
    message.remove_suffix(1);
  }
  std::string out = "bulkhead: " + printable(message);
  if (!p.remedy.empty()) {
    std::string_view remedy = p.remedy;
    while (!remedy.empty() && remedy.back() == '.') remedy.remove_suffix(1);
    out += " (" + printable(remedy) + ")";
  }
  return out + "\n";
}

int fail(const Problem& p) {
  complain(sentence(p));
  return p.exit_code;
}

}  // namespace bh::cli
