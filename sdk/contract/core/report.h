// An enforcement report (abi/schemas/enforcement.json), read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::sdk::contract {

struct Line {
  std::string rule, status, by, reason;
  bool enforced() const { return status == "enforced"; }
  // 2 enforced, 1 partial, 0 unsupported.
  int strength() const { return enforced() ? 2 : status == "partial" ? 1 : 0; }
  std::string text() const;
};

class Report {
 public:
  Report() = default;
  // `wrong`: what the schema does not allow, in words; empty: it is in order.
  static Report parse(std::string_view text, std::string& wrong);
  const Line* find(std::string_view rule) const;
  const std::vector<Line>& lines() const { return lines_; }
  bool enforced(std::string_view rule) const {
    const Line* line = find(rule);
    return line != nullptr && line->enforced();
  }

 private:
  std::vector<Line> lines_;
};

}  // namespace bulkhead::sdk::contract
