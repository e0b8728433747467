// The compiled form of a schema: nodes that point at each other, owned by a Program. Built by
// schema_compile, walked by schema_check, schema_message, coerce and driver_schema. Immutable once
// compiled, so that any number of threads may walk it.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema_pattern.h"

namespace bh::schema {

using Value = boost::json::value;

// Types as bits, so that a list of types is one number. A number with an integral value has both
// kInteger and kNumber.
enum Type : std::uint8_t {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
};

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

struct Node;

struct Property {
  std::string name;
  const Node* node = nullptr;  // null in a list of names alone
};

// Properties by name. A handful is compared one after the other, more are searched by halves. Most
// nodes have none, so that an empty one is small.
class PropertyTable {
 public:
  void add(std::string name, const Node* node);
  const Property* find(std::string_view name) const;
  bool empty() const { return list_.empty(); }
  const std::vector<Property>& list() const { return list_; }

 private:
  std::vector<Property> list_;          // as they were added
  std::vector<std::uint32_t> by_name_;  // places in list_; empty where there are few
};

struct PatternProperty {
  const Pattern* pattern = nullptr;
  const Node* node = nullptr;
};

// The keys that a closed object knows, from itself and the branches that apply to it.
struct KnownKeys {
  PropertyTable names;
  std::vector<const Pattern*> patterns;
  bool knows(std::string_view key) const;
};

// Null where there is none; nodes are many, and few have one.
using Bound = std::unique_ptr<const Value>;

struct Node {
  std::string pointer;  // where it stands in the schema

  bool never = false;          // the schema `false`
  const Node* ref = nullptr;   // nothing else is set then; never a cycle
  std::uint8_t types = 0;      // 0: any
  std::vector<Value> allowed;  // enum, or const as the only one
  bool is_const = false;

  bool has_number_rules = false;
  Bound minimum, maximum, above, below, multiple_of;

  bool has_string_rules = false;
  std::size_t min_length = 0, max_length = kNoLimit;
  const Pattern* pattern = nullptr;

  const Node* items = nullptr;
  const Node* contains = nullptr;
  std::size_t min_items = 0, max_items = kNoLimit;
  bool unique_items = false;

  bool lists_properties = false;
  PropertyTable properties;
  std::vector<std::string> required;
  std::vector<PatternProperty> pattern_properties;
  const Node* additional = nullptr;
  const KnownKeys* closed = nullptr;
  const Node* property_names = nullptr;
  std::size_t min_properties = 0, max_properties = kNoLimit;

  bool has_branches = false;  // one of the following
  std::vector<const Node*> all_of, any_of, one_of;
  const Node* not_ = nullptr;
  const Node* if_ = nullptr;
  const Node* then_ = nullptr;
  const Node* else_ = nullptr;
};

// Past every $ref.
inline const Node& resolved(const Node& node) {
  const Node* at = &node;
  while (at->ref != nullptr) at = at->ref;
  return *at;
}

struct Program {
  std::string subject;
  const Node* root = nullptr;
  std::deque<Node> nodes;
  std::deque<KnownKeys> known_keys;
  std::vector<std::unique_ptr<const Pattern>> patterns;
};

}  // namespace bh::schema
