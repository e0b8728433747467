// bulkhead/sdk/isolation/report.hpp - the enforcement report (abi/schemas/enforcement.json): one
// line per rule of the profile and per guarantee of the backend's own.
#ifndef BULKHEAD_SDK_ISOLATION_REPORT_HPP
#define BULKHEAD_SDK_ISOLATION_REPORT_HPP

#include <string>
#include <string_view>
#include <vector>

#include "../json.hpp"
#include "../result.hpp"

namespace bulkhead::sdk::isolation {

// A text as a line's value.
inline json::value word(std::string_view text) {
  return json::value(boost::json::string_view(text.data(), text.size()));
}

class Report {
 public:
  enum class State { kEnforced, kPartial, kUnsupported };
  struct Line {
    std::string rule;
    State state = State::kUnsupported;
    std::string by, reason;
    json::value value = nullptr;
  };

  explicit Report(std::string backend, std::string version = {})
      : backend_(std::move(backend)), version_(std::move(version)) {}

  void enforced(std::string rule, std::string by, json::value value = nullptr) {
    put({std::move(rule), State::kEnforced, std::move(by), {}, std::move(value)});
  }
  void partial(std::string rule, std::string by, std::string reason, json::value value = nullptr) {
    put({std::move(rule), State::kPartial, std::move(by), std::move(reason), std::move(value)});
  }
  void unsupported(std::string rule, std::string reason, json::value value = nullptr) {
    put({std::move(rule), State::kUnsupported, {}, std::move(reason), std::move(value)});
  }
  // The later line about a rule takes the place of the earlier one.
  void put(Line line) {
    for (Line& old : lines_) {
      if (old.rule == line.rule) {
        old = std::move(line);
        return;
      }
    }
    lines_.push_back(std::move(line));
  }

  const std::vector<Line>& lines() const { return lines_; }
  const Line* find(std::string_view rule) const {
    for (const Line& line : lines_) {
      if (line.rule == rule) return &line;
    }
    return nullptr;
  }

  // Ok when every rule named in `required` is enforced.
  Status meets(const std::vector<std::string>& required) const {
    for (const auto& rule : required) {
      const Line* line = find(rule);
      if (line != nullptr && line->state == State::kEnforced) continue;
      std::string why = line != nullptr ? line->reason : "the backend does not know this rule";
      return failure(BH_FAILED_PRECONDITION,
                     "the rule " + rule + " is required and not enforced: " + why, "not_enforced",
                     rule, "drop it from `required`, or choose another backend");
    }
    return {};
  }

  std::string print() const {
    static constexpr const char* kWords[] = {"enforced", "partial", "unsupported"};
    json::array rules;
    for (const Line& line : lines_) {
      json::object o;
      o["rule"] = line.rule;
      o["status"] = kWords[static_cast<int>(line.state)];
      if (!line.by.empty()) o["by"] = line.by;
      if (!line.reason.empty()) o["reason"] = line.reason;
      if (!line.value.is_null()) o["value"] = line.value;
      rules.push_back(std::move(o));
    }
    json::object all;
    all["backend"] = backend_;
    if (!version_.empty()) all["version"] = version_;
    all["rules"] = std::move(rules);
    return json::print(all);
  }

 private:
  std::string backend_, version_;
  std::vector<Line> lines_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_REPORT_HPP
