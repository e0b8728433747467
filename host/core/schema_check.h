// Walks a value along a compiled schema and finds the first violation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema_node.h"

namespace bh::schema {

enum class Rule : std::uint8_t {
  kLimit,  // more work than is reasonable
  kNever,  // the schema `false`
  kType,
  kEnum,
  kConst,
  kMinimum,
  kMaximum,
  kAbove,
  kBelow,
  kMultipleOf,
  kMinLength,
  kMaxLength,
  kPattern,
  kMinItems,
  kMaxItems,
  kUniqueItems,
  kContains,
  kRequired,
  kUnknownKey,
  kPropertyNames,
  kMinProperties,
  kMaxProperties,
  kAnyOf,
  kOneOfNone,
  kOneOfMany,
  kNot,
};

// One step down into a value: a key of an object or an index of an array.
struct Step {
  std::string_view key;
  std::size_t index = 0;
  bool is_key = false;
};

// What is wrong, where. Views the schema and the value.
struct Violation {
  Rule rule = Rule::kNever;
  const Node* node = nullptr;
  const Value* value = nullptr;
  std::string_view key;               // kRequired, kUnknownKey, kPropertyNames: whose
  std::size_t first = 0, second = 0;  // kUniqueItems, kOneOfMany: which two
  std::string inner;                  // kPropertyNames: what is wrong with the key
  std::size_t forms = 0;              // it is the nearest miss among so many allowed forms
  std::vector<Step> path;             // innermost first
};

// [any] True when the value satisfies the schema; else `violation` says why not. Uses a bounded
// stack: at most kMaxDepth nested steps, each a few hundred bytes. That
// is three steps for each level that json::parse takes.
bool satisfies(const Program& program, const Value& value, Violation& violation);

inline constexpr std::size_t kMaxDepth = 400;

}  // namespace bh::schema
