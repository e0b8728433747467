#include "core/coerce.h"

#include <string_view>
#include <utility>

#include "base/json.h"
#include "core/schema_node.h"
#include "core/schema_value.h"

namespace bh {

namespace {

using schema::Node;
using schema::resolved;

// As deep as parsed values can be, with one text decoded within.
constexpr int kMaxDepth = 300;
// Branches that multiply with every level end here; the rest stays as it came.
constexpr std::size_t kMaxSteps = 1'000'000;

// The types that a node lists, itself or by its alternatives.
std::uint8_t listed_types(const Node& start) {
  const Node& node = resolved(start);
  std::uint8_t types = node.types;
  if (types != 0) return types;
  for (const auto* branches : {&node.any_of, &node.one_of}) {
    for (const Node* branch : *branches) types |= listed_types(*branch);
  }
  return types;
}

bool may_be_json(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos &&
         std::string_view("{[-0123456789tfn").find(text[start]) != std::string_view::npos;
}

void decode(const Node& node, boost::json::value& v) {
  constexpr std::uint8_t kOthers =
      schema::kObject | schema::kArray | schema::kBoolean | schema::kInteger | schema::kNumber;
  const std::uint8_t types = listed_types(node);
  if ((types & schema::kString) == 0 || (types & kOthers) == 0) return;
  const std::string_view text = v.get_string();
  if (!may_be_json(text)) return;
  auto parsed = json::parse(text);
  if (!parsed || parsed->is_string() || (schema::types_of(*parsed) & types) == 0) return;
  v = std::move(*parsed);
}

void coerce_at(const Node& start, boost::json::value& v, int depth, std::size_t& steps) {
  if (depth > kMaxDepth || ++steps > kMaxSteps) return;
  const Node& node = resolved(start);
  if (v.is_string()) decode(node, v);
  if (auto* array = v.if_array(); array != nullptr && node.items != nullptr) {
    for (boost::json::value& item : *array) coerce_at(*node.items, item, depth + 1, steps);
  }
  if (auto* object = v.if_object()) {
    for (auto& member : *object) {
      const schema::Property* property = node.properties.find(member.key());
      const Node* below = property != nullptr ? property->node : node.additional;
      if (below != nullptr) coerce_at(*below, member.value(), depth + 1, steps);
    }
  }
  for (const auto* branches : {&node.all_of, &node.any_of, &node.one_of}) {
    for (const Node* branch : *branches) coerce_at(*branch, v, depth + 1, steps);
  }
}

}  // namespace

boost::json::value coerce(boost::json::value v, const Schema& accepts) {
  std::size_t steps = 0;
  coerce_at(*accepts.program().root, v, 0, steps);
  return v;
}

}  // namespace bh
