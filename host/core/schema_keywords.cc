// What each keyword of a schema says, and which are refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "core/schema_compile.h"
#include "core/schema_message.h"
#include "core/schema_value.h"

namespace bh::schema {

namespace {

struct Remedy {
  std::string_view keyword, text;
};

constexpr std::string_view kDialects[] = {
    "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema"};

std::uint8_t type_of_name(std::string_view name) {
  static constexpr auto kTypes =
      std::to_array<std::pair<std::string_view, Type>>({{"object", kObject},
                                                        {"array", kArray},
                                                        {"string", kString},
                                                        {"integer", kInteger},
                                                        {"number", kNumber},
                                                        {"boolean", kBoolean},
                                                        {"null", kNull}});
  for (const auto& [type, bit] : kTypes) {
    if (type == name) return bit;
  }
  return 0;
}

}  // namespace

const Compiler::Keyword* Compiler::find_keyword(std::string_view name) {
  static constexpr auto kKeywords = std::to_array<Keyword>({
      {"type", &Compiler::take_type},
      {"description", nullptr},
      {"properties", &Compiler::take_properties},
      {"required", &Compiler::take_required},
      {"additionalProperties", &Compiler::take_subschema},
      {"enum", &Compiler::take_enum},
      {"const", &Compiler::take_const},
      {"items", &Compiler::take_items},
      {"title", nullptr},
      {"default", nullptr},
      {"minimum", &Compiler::take_number_rule},
      {"maximum", &Compiler::take_number_rule},
      {"exclusiveMinimum", &Compiler::take_number_rule},
      {"exclusiveMaximum", &Compiler::take_number_rule},
      {"multipleOf", &Compiler::take_number_rule},
      {"minLength", &Compiler::take_size},
      {"maxLength", &Compiler::take_size},
      {"minItems", &Compiler::take_size},
      {"maxItems", &Compiler::take_size},
      {"minProperties", &Compiler::take_size},
      {"maxProperties", &Compiler::take_size},
      {"pattern", &Compiler::take_pattern},
      {"uniqueItems", &Compiler::take_unique_items},
      {"contains", &Compiler::take_subschema},
      {"patternProperties", &Compiler::take_pattern_properties},
      {"propertyNames", &Compiler::take_subschema},
      {"allOf", &Compiler::take_branches},
      {"anyOf", &Compiler::take_branches},
      {"oneOf", &Compiler::take_branches},
      {"not", &Compiler::take_condition},
      {"if", &Compiler::take_condition},
      {"then", &Compiler::take_condition},
      {"else", &Compiler::take_condition},
      {"$ref", &Compiler::take_ref},
      {"$defs", &Compiler::take_defs},
      {"definitions", &Compiler::take_defs},
      {"$schema", &Compiler::take_dialect},
      {"$id", &Compiler::take_id},
      {"$comment", nullptr},
      {"examples", nullptr},
      {"deprecated", nullptr},
      {"readOnly", nullptr},
      {"writeOnly", nullptr},
      {"format", nullptr},
  });
  for (const Keyword& keyword : kKeywords) {
    if (keyword.name == name) return &keyword;
  }
  return nullptr;
}

std::string_view Compiler::remedy_for(std::string_view unsupported) {
  static constexpr auto kRemedies = std::to_array<Remedy>({
      {"prefixItems", "use \"items\" with one schema for all items"},
      {"additionalItems", "use \"items\" with one schema for all items"},
      {"unevaluatedItems", "use \"items\""},
      {"minContains", "use \"contains\" alone"},
      {"maxContains", "use \"contains\" alone"},
      {"dependentRequired", "use \"if\" and \"then\" with \"required\""},
      {"dependentSchemas", "use \"if\" and \"then\""},
      {"dependencies", "use \"if\" and \"then\""},
      {"unevaluatedProperties", "use \"additionalProperties\" in each branch"},
      {"$anchor", "refer to the place: \"#/$defs/NAME\""},
      {"$dynamicAnchor", "refer to the place: \"#/$defs/NAME\""},
      {"$dynamicRef", "use \"$ref\" to a place: \"#/$defs/NAME\""},
      {"$recursiveRef", "use \"$ref\": \"#\""},
      {"$recursiveAnchor", "use \"$ref\": \"#\""},
      {"$vocabulary", "leave it out"},
      {"id", "leave it out"},
      {"contentEncoding", "say it in \"description\""},
      {"contentMediaType", "say it in \"description\""},
      {"contentSchema", "say it in \"description\""},
      {"nullable", "list \"null\" in \"type\""},
      {"divisibleBy", "use \"multipleOf\""},
      {"extends", "use \"allOf\""},
      {"disallow", "use \"not\""},
  });
  for (const Remedy& remedy : kRemedies) {
    if (remedy.keyword == unsupported) return remedy.text;
  }
  return "leave it out, or name it x-... if it is only a remark";
}

Result<void> Compiler::check_beside_ref(const Object& object) const {
  for (const auto& member : object) {
    const Keyword* keyword = find_keyword(member.key());
    if (keyword == nullptr || keyword->take == nullptr) continue;  // refused later, or a remark
    const std::string_view name = keyword->name;
    if (name == "$ref" || name == "$defs" || name == "definitions" || name == "$schema" ||
        name == "$id") {
      continue;
    }
    return refuse("schema_unsupported", name,
                  "beside \"$ref\" is not enforced, for drafts differ on what it means",
                  "put both into \"allOf\"");
  }
  return {};
}

Result<std::size_t> Compiler::size(std::string_view keyword, const Value& v) const {
  constexpr double kExact = 0x1p53;
  if (!v.is_number() || (types_of(v) & kInteger) == 0 || v.to_number<double>() < 0 ||
      v.to_number<double>() > kExact) {
    return wrong(keyword, "a whole number from 0 to 2^53");
  }
  return static_cast<std::size_t>(v.to_number<double>());
}

Result<Value> Compiler::number(std::string_view keyword, const Value& v) const {
  if (!v.is_number()) return wrong(keyword, "a number");
  return v;
}

Result<const Pattern*> Compiler::pattern(std::string_view keyword, const Value& v) {
  const auto* text = v.if_string();
  if (text == nullptr) return wrong(keyword, "a string");
  if (text->size() > kMaxPatternText || program_->patterns.size() >= kMaxPatterns) {
    return refuse("schema_limit", keyword,
                  "is more than is allowed: " + std::to_string(kMaxPatterns) + " patterns of " +
                      std::to_string(kMaxPatternText) + " bytes",
                  "use fewer or shorter ones");
  }
  auto compiled = Pattern::compile(*text);
  if (!compiled && compiled.error().code != BH_INVALID_ARGUMENT) {
    return tl::unexpected(compiled.error().within("schema " + pointer_));
  }
  if (!compiled) {
    return refuse("schema_unsupported", keyword,
                  json::quote(*text) + " is not taken by RE2: " + compiled.error().message,
                  "write it without look-around and back references");
  }
  program_->patterns.push_back(std::move(*compiled));
  return program_->patterns.back().get();
}

Result<void> Compiler::list(std::string_view keyword, const Value& v,
                            std::vector<const Node*>& out) {
  const auto* array = v.if_array();
  if (array == nullptr || array->empty()) return wrong(keyword, "a list of at least one schema");
  for (std::size_t i = 0; i < array->size(); ++i) {
    auto node = walk_under(keyword, std::to_string(i), (*array)[i]);
    if (!node) return tl::unexpected(std::move(node).error());
    out.push_back(*node);
  }
  return {};
}

Result<void> Compiler::take_dialect(Node&, std::string_view keyword, const Value& v) {
  const auto* text = v.if_string();
  if (text == nullptr) return wrong(keyword, "a string");
  std::string_view name = *text;
  for (std::string_view scheme : {"https://", "http://"}) {
    if (name.starts_with(scheme)) name.remove_prefix(scheme.size());
  }
  if (name.ends_with('#')) name.remove_suffix(1);
  if (std::find(std::begin(kDialects), std::end(kDialects), name) != std::end(kDialects)) return {};
  return refuse("schema_unsupported", keyword, json::quote(*text) + " is no dialect known here",
                "use drafts 6, 7, 2019-09 or 2020-12, or leave it out");
}

Result<void> Compiler::take_id(Node&, std::string_view keyword, const Value& v) {
  if (!v.is_string()) return wrong(keyword, "a string");
  if (pointer_.empty()) return {};
  return refuse("schema_unsupported", keyword, "inside a schema would move its references",
                "leave it out");
}

Result<void> Compiler::take_ref(Node& node, std::string_view keyword, const Value& v) {
  const auto* text = v.if_string();
  if (text == nullptr) return wrong(keyword, "a string");
  references_.push_back({&node, std::string(*text)});
  return {};
}

Result<void> Compiler::take_defs(Node&, std::string_view keyword, const Value& v) {
  const auto* object = v.if_object();
  if (object == nullptr) return wrong(keyword, "an object of schemas");
  for (const auto& member : *object) {
    auto node = walk_under(keyword, member.key(), member.value());
    if (!node) return tl::unexpected(std::move(node).error());
  }
  return {};
}

Result<void> Compiler::take_type(Node& node, std::string_view keyword, const Value& v) {
  const std::string_view right =
      "one of object, array, string, integer, number, boolean, null, or a list of them";
  const auto add = [&](const Value& name) -> Result<void> {
    const auto* text = name.if_string();
    const std::uint8_t bit = text == nullptr ? std::uint8_t{0} : type_of_name(*text);
    if (bit == 0) return wrong(keyword, right);
    node.types |= bit;
    return {};
  };
  const auto* array = v.if_array();
  if (array == nullptr) return add(v);
  if (array->empty()) return wrong(keyword, right);
  for (const Value& name : *array) BH_TRY(add(name));
  return {};
}

Result<void> Compiler::take_enum(Node& node, std::string_view keyword, const Value& v) {
  const auto* array = v.if_array();
  if (array == nullptr || array->empty()) return wrong(keyword, "a list of at least one value");
  if (node.is_const) {
    const Value only = node.allowed.front();
    node.never = std::none_of(array->begin(), array->end(),
                              [&only](const Value& one) { return equal(one, only); });
    return {};
  }
  node.allowed.assign(array->begin(), array->end());
  return {};
}

Result<void> Compiler::take_const(Node& node, std::string_view, const Value& v) {
  node.never = node.never || (!node.allowed.empty() &&
                              std::none_of(node.allowed.begin(), node.allowed.end(),
                                           [&v](const Value& one) { return equal(one, v); }));
  node.allowed.assign(1, v);
  node.is_const = true;
  return {};
}

Result<void> Compiler::take_number_rule(Node& node, std::string_view keyword, const Value& v) {
  if (v.is_bool() && keyword.starts_with("exclusive")) {
    return refuse("schema_invalid", keyword, "must be a number, not the boolean of draft 4",
                  "give the bound itself");
  }
  auto bound = number(keyword, v);
  if (!bound) return tl::unexpected(std::move(bound).error());
  if (keyword == "multipleOf" && compare_numbers(*bound, Value(0)) <= 0) {
    return wrong(keyword, "a number above 0");
  }
  auto& slot = keyword == "minimum"            ? node.minimum
               : keyword == "maximum"          ? node.maximum
               : keyword == "exclusiveMinimum" ? node.above
               : keyword == "exclusiveMaximum" ? node.below
                                               : node.multiple_of;
  slot = std::make_unique<const Value>(std::move(*bound));
  node.has_number_rules = true;
  return {};
}

Result<void> Compiler::take_size(Node& node, std::string_view keyword, const Value& v) {
  auto limit = size(keyword, v);
  if (!limit) return tl::unexpected(std::move(limit).error());
  auto& slot = keyword == "minLength"       ? node.min_length
               : keyword == "maxLength"     ? node.max_length
               : keyword == "minItems"      ? node.min_items
               : keyword == "maxItems"      ? node.max_items
               : keyword == "minProperties" ? node.min_properties
                                            : node.max_properties;
  slot = *limit;
  node.has_string_rules = node.has_string_rules || keyword.ends_with("Length");
  return {};
}

Result<void> Compiler::take_pattern(Node& node, std::string_view keyword, const Value& v) {
  auto compiled = pattern(keyword, v);
  if (!compiled) return tl::unexpected(std::move(compiled).error());
  node.pattern = *compiled;
  node.has_string_rules = true;
  return {};
}

Result<void> Compiler::take_items(Node& node, std::string_view keyword, const Value& v) {
  if (v.is_array()) {
    return refuse("schema_unsupported", keyword,
                  "as a list (a schema for each place) is not enforced",
                  "give one schema for all items");
  }
  return take_subschema(node, keyword, v);
}

Result<void> Compiler::take_unique_items(Node& node, std::string_view keyword, const Value& v) {
  if (!v.is_bool()) return wrong(keyword, "true or false");
  node.unique_items = v.get_bool();
  return {};
}

Result<void> Compiler::take_properties(Node& node, std::string_view keyword, const Value& v) {
  const auto* object = v.if_object();
  if (object == nullptr) return wrong(keyword, "an object of schemas");
  node.lists_properties = true;
  for (const auto& member : *object) {
    auto below = walk_under(keyword, member.key(), member.value());
    if (!below) return tl::unexpected(std::move(below).error());
    node.properties.add(std::string(member.key()), *below);
  }
  return {};
}

Result<void> Compiler::take_required(Node& node, std::string_view keyword, const Value& v) {
  const auto* array = v.if_array();
  if (array == nullptr) return wrong(keyword, "a list of keys");
  for (const Value& name : *array) {
    if (!name.is_string()) return wrong(keyword, "a list of keys");
    node.required.emplace_back(name.get_string());
  }
  return {};
}

Result<void> Compiler::take_pattern_properties(Node& node, std::string_view keyword,
                                               const Value& v) {
  const auto* object = v.if_object();
  if (object == nullptr) return wrong(keyword, "an object of schemas");
  for (const auto& member : *object) {
    auto compiled = pattern(keyword, Value(member.key()));
    if (!compiled) return tl::unexpected(std::move(compiled).error());
    auto below = walk_under(keyword, member.key(), member.value());
    if (!below) return tl::unexpected(std::move(below).error());
    node.pattern_properties.push_back({*compiled, *below});
  }
  return {};
}

Result<void> Compiler::take_subschema(Node& node, std::string_view keyword, const Value& v) {
  auto below = walk_under(keyword, v);
  if (!below) return tl::unexpected(std::move(below).error());
  auto& slot = keyword == "items"                  ? node.items
               : keyword == "contains"             ? node.contains
               : keyword == "additionalProperties" ? node.additional
                                                   : node.property_names;
  slot = *below;
  return {};
}

Result<void> Compiler::take_branches(Node& node, std::string_view keyword, const Value& v) {
  node.has_branches = true;
  return list(keyword, v,
              keyword == "allOf"   ? node.all_of
              : keyword == "anyOf" ? node.any_of
                                   : node.one_of);
}

Result<void> Compiler::take_condition(Node& node, std::string_view keyword, const Value& v) {
  auto branch = walk_under(keyword, v);
  if (!branch) return tl::unexpected(std::move(branch).error());
  node.has_branches = true;
  auto& slot = keyword == "not"    ? node.not_
               : keyword == "if"   ? node.if_
               : keyword == "then" ? node.then_
                                   : node.else_;
  slot = *branch;
  return {};
}

}  // namespace bh::schema
