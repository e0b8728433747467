#include "core/schema_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/schema_message.h"
#include "core/schema_value.h"

namespace bh::schema {

namespace {

// Steps are nodes visited and items compared, some 20 ns each. A value may take this many, and so
// many more for each of its parts: honest work grows with the value, combinations that multiply
// with every level of it do not stay within.
constexpr std::size_t kFreeSteps = 200'000;
constexpr std::size_t kStepsPerPart = 256;

std::size_t parts_of(const Value& value, std::size_t depth = 0) {
  std::size_t parts = 1;
  if (depth > kMaxDepth) return parts;
  if (const auto* array = value.if_array()) {
    for (const Value& item : *array) parts += parts_of(item, depth + 1);
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) parts += parts_of(member.value(), depth + 1);
  }
  return parts;
}

// What holds objects of its own stays out of visit(), whose frame is paid at every level.
#define BH_APART [[gnu::noinline]]

class Checker {
 public:
  Checker(const Value& root, Violation& violation) : root_(root), found_(violation) {}

  bool visit(const Node& start, const Value& value);

 private:
  BH_APART bool number_rules(const Node& node, const Value& value);
  BH_APART bool string_rules(const Node& node, const Value& value);
  bool array_rules(const Node& node, const Value& value);
  BH_APART bool unique(const Node& node, const Value& value);
  bool object_rules(const Node& node, const Value& value);
  bool member(const Node& node, const Value& object, std::string_view key, const Value& value);
  BH_APART bool name(const Node& node, const Value& object, std::string_view key);
  bool branches(const Node& node, const Value& value);
  BH_APART bool any_of(const Node& node, const Value& value);
  BH_APART bool one_of(const Node& node, const Value& value);

  BH_APART bool broken(Rule rule, const Node& node, const Value& value, std::string_view key = {});
  BH_APART bool under_key(std::string_view key);
  BH_APART bool under_index(std::size_t index);
  bool spend(const Node& node, const Value& value);

  const Value& root_;
  Violation& found_;
  std::size_t depth_ = 0;
  std::size_t steps_ = 0;
  std::size_t max_steps_ = kFreeSteps;
  bool stopped_ = false;
};

bool Checker::broken(Rule rule, const Node& node, const Value& value, std::string_view key) {
  if (stopped_) return false;  // the first reason to stop is the one to tell
  found_.rule = rule;
  found_.node = &node;
  found_.value = &value;
  found_.key = key;
  found_.forms = 0;
  found_.path.clear();
  return false;
}

bool Checker::under_key(std::string_view key) {
  found_.path.push_back({key, 0, true});
  return false;
}

bool Checker::under_index(std::size_t index) {
  found_.path.push_back({{}, index, false});
  return false;
}

bool Checker::spend(const Node& node, const Value& value) {
  ++steps_;
  if (steps_ == kFreeSteps) max_steps_ += kStepsPerPart * parts_of(root_);  // counted when needed
  if (!stopped_ && steps_ <= max_steps_ && depth_ <= kMaxDepth) return true;
  broken(Rule::kLimit, node, value);
  stopped_ = true;
  return false;
}

bool Checker::visit(const Node& start, const Value& value) {
  const Node& node = resolved(start);
  if (!spend(node, value)) return false;
  if (node.never) return broken(Rule::kNever, node, value);
  if (node.types != 0 && (node.types & types_of(value)) == 0) {
    return broken(Rule::kType, node, value);
  }
  if (!node.allowed.empty() &&
      std::none_of(node.allowed.begin(), node.allowed.end(),
                   [&value](const Value& one) { return equal(one, value); })) {
    return broken(node.is_const ? Rule::kConst : Rule::kEnum, node, value);
  }
  ++depth_;
  bool good = true;
  switch (value.kind()) {
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      good = !node.has_number_rules || number_rules(node, value);
      break;
    case boost::json::kind::string:
      good = !node.has_string_rules || string_rules(node, value);
      break;
    case boost::json::kind::array:
      good = array_rules(node, value);
      break;
    case boost::json::kind::object:
      good = object_rules(node, value);
      break;
    default:
      break;
  }
  good = good && (!node.has_branches || branches(node, value));
  --depth_;
  return good;
}

bool Checker::number_rules(const Node& node, const Value& value) {
  if (node.minimum && compare_numbers(value, *node.minimum) < 0) {
    return broken(Rule::kMinimum, node, value);
  }
  if (node.maximum && compare_numbers(value, *node.maximum) > 0) {
    return broken(Rule::kMaximum, node, value);
  }
  if (node.above && compare_numbers(value, *node.above) <= 0) {
    return broken(Rule::kAbove, node, value);
  }
  if (node.below && compare_numbers(value, *node.below) >= 0) {
    return broken(Rule::kBelow, node, value);
  }
  if (node.multiple_of && !is_multiple(value, *node.multiple_of)) {
    return broken(Rule::kMultipleOf, node, value);
  }
  return true;
}

bool Checker::string_rules(const Node& node, const Value& value) {
  const std::string_view text = value.get_string();
  if (node.min_length > 0 || node.max_length != kNoLimit) {
    const std::size_t length = length_of(text);
    if (length < node.min_length) return broken(Rule::kMinLength, node, value);
    if (length > node.max_length) return broken(Rule::kMaxLength, node, value);
  }
  if (node.pattern != nullptr && !node.pattern->matches(text)) {
    return broken(Rule::kPattern, node, value);
  }
  return true;
}

bool Checker::array_rules(const Node& node, const Value& value) {
  const auto& array = value.get_array();
  if (array.size() < node.min_items) return broken(Rule::kMinItems, node, value);
  if (array.size() > node.max_items) return broken(Rule::kMaxItems, node, value);
  if (node.items != nullptr) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (!visit(*node.items, array[i])) return under_index(i);
    }
  }
  if (node.unique_items && !unique(node, value)) return false;
  if (node.contains != nullptr) {
    const bool some = std::any_of(array.begin(), array.end(), [&](const Value& item) {
      return !stopped_ && visit(*node.contains, item);
    });
    if (!some) return broken(Rule::kContains, node, value);
  }
  return true;
}

bool Checker::unique(const Node& node, const Value& value) {
  const auto& array = value.get_array();
  std::vector<std::pair<std::size_t, std::size_t>> hashes;  // hash, index
  hashes.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) hashes.emplace_back(hash(array[i]), i);
  std::sort(hashes.begin(), hashes.end());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = i + 1; j < hashes.size() && hashes[j].first == hashes[i].first; ++j) {
      // Whoever writes thousands of values with one hash pays by the comparison.
      if (!spend(node, value)) return false;
      if (!equal(array[hashes[i].second], array[hashes[j].second])) continue;
      found_.first = hashes[i].second;
      found_.second = hashes[j].second;
      return broken(Rule::kUniqueItems, node, value);
    }
  }
  return true;
}

bool Checker::object_rules(const Node& node, const Value& value) {
  const auto& object = value.get_object();
  for (const auto& entry : object) {
    if (!member(node, value, entry.key(), entry.value())) return false;
  }
  for (const std::string& key : node.required) {
    if (!object.contains(key)) return broken(Rule::kRequired, node, value, key);
  }
  if (object.size() < node.min_properties) return broken(Rule::kMinProperties, node, value);
  if (object.size() > node.max_properties) return broken(Rule::kMaxProperties, node, value);
  return true;
}

bool Checker::member(const Node& node, const Value& object, std::string_view key,
                     const Value& value) {
  if (node.property_names != nullptr && !name(node, object, key)) return false;
  bool known = false;
  if (const Property* property = node.properties.find(key)) {
    known = true;
    if (!visit(*property->node, value)) return under_key(key);
  }
  for (const PatternProperty& property : node.pattern_properties) {
    if (!property.pattern->matches(key)) continue;
    known = true;
    if (!visit(*property.node, value)) return under_key(key);
  }
  if (known) return true;
  if (node.additional != nullptr) {
    if (node.additional->never) return broken(Rule::kUnknownKey, node, object, key);
    if (!visit(*node.additional, value)) return under_key(key);
  } else if (node.closed != nullptr && !node.closed->knows(key)) {
    return broken(Rule::kUnknownKey, node, object, key);
  }
  return true;
}

bool Checker::name(const Node& node, const Value& object, std::string_view key) {
  const Value text(boost::json::string_view(key.data(), key.size()));
  if (visit(*node.property_names, text)) return true;
  if (stopped_) return false;
  found_.inner = sentence(found_);  // before `text`, which it views, is gone
  return broken(Rule::kPropertyNames, node, object, key);
}

bool Checker::branches(const Node& node, const Value& value) {
  for (const Node* branch : node.all_of) {
    if (!visit(*branch, value)) return false;
  }
  if (!node.any_of.empty() && !any_of(node, value)) return false;
  if (!node.one_of.empty() && !one_of(node, value)) return false;
  if (node.not_ != nullptr) {
    if (visit(*node.not_, value)) return broken(Rule::kNot, node, value);
    if (stopped_) return false;
  }
  if (node.if_ != nullptr) {
    const bool yes = visit(*node.if_, value);
    if (stopped_) return false;
    const Node* next = yes ? node.then_ : node.else_;
    if (next != nullptr && !visit(*next, value)) return false;
  }
  return true;
}

// The nearest miss is the one that got furthest: a violation deep inside says that the rest fitted.
// A constant that differs says little, for it is how forms are told apart ({"kind": "a", ...}).
int nearness(const Violation& v) {
  const int depth = 2 * static_cast<int>(v.path.size());
  switch (v.rule) {
    case Rule::kConst:
    case Rule::kEnum:
      return depth - 2;
    case Rule::kType:
    case Rule::kNever:
    case Rule::kAnyOf:
    case Rule::kOneOfNone:
      return depth;
    default:
      return depth + 1;
  }
}

// The misses of the branches of one anyOf or oneOf. The nearest one is kept on the heap: it would
// make every level of a deep value heavy on the stack.
class Misses {
 public:
  void add(Violation& found) {
    const bool plain =
        found.path.empty() &&
        (found.rule == Rule::kType || found.rule == Rule::kEnum || found.rule == Rule::kConst);
    all_plain_ = all_plain_ && plain;
    if (best_ == nullptr) {
      best_ = std::make_unique<Violation>(std::move(found));
    } else if (nearness(found) > nearness(*best_)) {
      std::swap(*best_, found);
    }
  }
  // Every form names types or values at this very place: a list of them says more than one miss.
  bool all_plain() const { return all_plain_; }
  Violation& nearest() { return *best_; }

 private:
  std::unique_ptr<Violation> best_;
  bool all_plain_ = true;
};

bool Checker::any_of(const Node& node, const Value& value) {
  Misses misses;
  for (const Node* branch : node.any_of) {
    if (visit(*branch, value)) return true;
    if (stopped_) return false;
    misses.add(found_);
  }
  if (misses.all_plain()) return broken(Rule::kAnyOf, node, value);
  std::swap(found_, misses.nearest());
  found_.forms = node.any_of.size();
  return false;
}

bool Checker::one_of(const Node& node, const Value& value) {
  Misses misses;
  std::size_t matched = kNoLimit;
  for (std::size_t i = 0; i < node.one_of.size(); ++i) {
    if (visit(*node.one_of[i], value)) {
      if (matched != kNoLimit) {
        found_.first = matched;
        found_.second = i;
        return broken(Rule::kOneOfMany, node, value);
      }
      matched = i;
      continue;
    }
    if (stopped_) return false;
    misses.add(found_);
  }
  if (matched != kNoLimit) return true;
  if (misses.all_plain()) return broken(Rule::kOneOfNone, node, value);
  std::swap(found_, misses.nearest());
  found_.forms = node.one_of.size();
  return false;
}

}  // namespace

bool satisfies(const Program& program, const Value& value, Violation& violation) {
  return Checker(value, violation).visit(*program.root, value);
}

}  // namespace bh::schema
