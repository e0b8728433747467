#include "report.h"

#include "bulkhead/sdk/json.hpp"

namespace bulkhead::sdk::contract {

std::string Line::text() const {
  std::string out = rule + " is " + status;
  if (!by.empty()) out += " by " + by;
  if (!reason.empty()) out += ": " + reason;
  return out;
}

Report Report::parse(std::string_view text, std::string& wrong) {
  Report out;
  wrong.clear();
  auto parsed = json::parse_object(text);
  if (text.empty() || !parsed) {
    wrong = text.empty() ? "there is no report" : "the report is not a JSON object";
    return out;
  }
  const auto* rules = json::list(*parsed, "rules");
  if (rules == nullptr) wrong = "the report has no \"rules\"";
  for (const auto& one : rules != nullptr ? *rules : json::array()) {
    const auto* o = one.if_object();
    Line line;
    if (o != nullptr) {
      line.rule = json::text(*o, "rule");
      line.status = json::text(*o, "status");
      line.by = json::text(*o, "by");
      line.reason = json::text(*o, "reason");
    }
    const bool known =
        line.status == "enforced" || line.status == "partial" || line.status == "unsupported";
    if (line.rule.empty() || !known) {
      wrong = "a line lacks its rule, or its status is \"" + line.status + "\"";
    } else if (out.find(line.rule) != nullptr) {
      wrong = "two lines about " + line.rule;
    } else if (!line.enforced() && line.reason.empty()) {
      wrong = line.rule + " is " + line.status + " without a reason";
    }
    out.lines_.push_back(std::move(line));
  }
  return out;
}

const Line* Report::find(std::string_view rule) const {
  for (const Line& line : lines_) {
    if (line.rule == rule) return &line;
  }
  return nullptr;
}

}  // namespace bulkhead::sdk::contract
