#include "rules.h"

namespace bulkhead::sdk::contract {

void needs_key(Try& t, const std::string& key, const std::string& word) {
  const Schema& schema = t.backend.plugin().profile;
  if (!schema.lists(key)) Try::skip("profile_schema does not list " + key);
  if (!word.empty() && !schema.allows(key, word)) {
    Try::skip("profile_schema does not allow " + key + " to be \"" + word + "\"");
  }
}

bool promised(Try& t, const Report& report, const std::string& rule) {
  const Line* line = report.find(rule);
  if (line == nullptr) {
    Try::fail("the schema takes the rule and the report has no line \"" + rule + "\"");
  }
  if (line->enforced()) return true;
  t.expect(!line->reason.empty(), rule + " is " + line->status + " without a reason");
  t.note(rule + " is " + line->status + ": " + line->reason);
  return false;
}

bool guaranteed(Try& t, const Report& report, const std::string& rule) {
  if (report.find(rule) == nullptr) Try::skip("the report does not mention " + rule);
  return promised(t, report, rule);
}

void control(Try& t, bool works, const std::string& what) {
  t.require(works, "the check proves nothing here, its control failed: " + what);
}

}  // namespace bulkhead::sdk::contract
