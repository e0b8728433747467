#include "core/schema_message.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "core/schema_value.h"

namespace bh::schema {

namespace {

constexpr std::size_t kMaxShown = 80;   // bytes of a value in a message
constexpr std::size_t kMaxListed = 24;  // names or values in a list

struct RuleName {
  Rule rule;
  std::string_view keyword;
};

// The keyword that a violation is about, for details.keyword.
std::string_view keyword_of(Rule rule) {
  static constexpr auto kNames = std::to_array<RuleName>({
      {Rule::kLimit, "limit"},
      {Rule::kNever, "false"},
      {Rule::kType, "type"},
      {Rule::kEnum, "enum"},
      {Rule::kConst, "const"},
      {Rule::kMinimum, "minimum"},
      {Rule::kMaximum, "maximum"},
      {Rule::kAbove, "exclusiveMinimum"},
      {Rule::kBelow, "exclusiveMaximum"},
      {Rule::kMultipleOf, "multipleOf"},
      {Rule::kMinLength, "minLength"},
      {Rule::kMaxLength, "maxLength"},
      {Rule::kPattern, "pattern"},
      {Rule::kMinItems, "minItems"},
      {Rule::kMaxItems, "maxItems"},
      {Rule::kUniqueItems, "uniqueItems"},
      {Rule::kContains, "contains"},
      {Rule::kRequired, "required"},
      {Rule::kUnknownKey, "additionalProperties"},
      {Rule::kPropertyNames, "propertyNames"},
      {Rule::kMinProperties, "minProperties"},
      {Rule::kMaxProperties, "maxProperties"},
      {Rule::kAnyOf, "anyOf"},
      {Rule::kOneOfNone, "oneOf"},
      {Rule::kOneOfMany, "oneOf"},
      {Rule::kNot, "not"},
  });
  for (const RuleName& name : kNames) {
    if (name.rule == rule) return name.keyword;
  }
  return "schema";
}

// Text with its quotes, cut where it is long, never inside a character.
std::string quoted(std::string_view text) {
  if (text.size() <= kMaxShown) return json::quote(text);
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return json::quote(text.substr(0, end)) + "...";
}

// The kind of value that came; an integer is told as a number, as its sender sees it.
std::string kind_of(const Value& v) {
  const std::uint8_t types = types_of(v);
  return type_names((types & kNumber) != 0 ? std::uint8_t{kNumber} : types);
}

// A value as it came, where that is short; else its kind.
std::string shown(const Value& v) {
  if (const auto* text = v.if_string()) return quoted(*text);
  if (v.is_array() || v.is_object()) {
    return v.is_array() && v.get_array().empty()     ? "[]"
           : v.is_object() && v.get_object().empty() ? "{}"
                                                     : kind_of(v);
  }
  return json::print(v);
}

std::string joined(const std::vector<std::string>& parts, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? last : std::string_view(", ");
    out += parts[i];
  }
  return out;
}

// Values or names, as a list that ends somewhere.
std::string listed(std::vector<std::string> parts, std::string_view last) {
  if (parts.size() > kMaxListed) {
    const std::size_t rest = parts.size() - kMaxListed;
    parts.resize(kMaxListed);
    parts.push_back(std::to_string(rest) + " more");
  }
  return joined(parts, last);
}

void add_expected(const Node& start, std::vector<std::string>& parts) {
  const Node& node = resolved(start);
  const auto add = [&parts](std::string part) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
  };
  if (!node.allowed.empty()) {
    for (const Value& value : node.allowed) add(shown(value));
  } else if (node.types != 0) {
    add(type_names(node.types));
  }
}

// What a node asks for at its own place: its values, its types, those of its branches.
std::string expected_of(const Node& start) {
  const Node& node = resolved(start);
  std::vector<std::string> parts;
  add_expected(node, parts);
  if (parts.empty()) {
    for (const Node* branch : node.any_of) add_expected(*branch, parts);
    for (const Node* branch : node.one_of) add_expected(*branch, parts);
  }
  return listed(std::move(parts), " or ");
}

std::string meant(std::string_view wrong, const std::vector<std::string_view>& names) {
  const std::string_view near = nearest_name(wrong, names);
  return near.empty() ? std::string() : " (did you mean " + json::quote(near) + "?)";
}

std::vector<std::string_view> texts_of(const Node& node) {
  std::vector<std::string_view> texts;
  for (const Value& value : node.allowed) {
    if (const auto* text = value.if_string()) texts.push_back(*text);
  }
  return texts;
}

std::string value_sentence(const Violation& v) {
  std::string out = "expected " + expected_of(*v.node) + ", got " + shown(*v.value);
  if (const auto* text = v.value->if_string()) out += meant(*text, texts_of(*v.node));
  return out;
}

std::vector<std::string_view> known_keys(const Node& node) {
  std::vector<std::string_view> names;
  const PropertyTable& table = node.closed != nullptr ? node.closed->names : node.properties;
  for (const Property& property : table.list()) names.push_back(property.name);
  return names;
}

std::string unknown_sentence(const Violation& v) {
  std::string out = "unknown key " + quoted(v.key);
  const auto names = known_keys(*v.node);
  if (names.empty()) return out + "; none is known here";
  std::vector<std::string> parts(names.begin(), names.end());
  return out + "; known: " + listed(std::move(parts), ", ") + meant(v.key, names);
}

std::string count(std::size_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string bound(std::string_view words, const Bound& limit, const Value& got) {
  return "expected " + std::string(words) + " " + json::print(*limit) + ", got " + json::print(got);
}

std::string size_bound(std::string_view words, std::size_t limit, std::string_view one,
                       std::string_view many, std::size_t got) {
  return "expected " + std::string(words) + " " + count(limit, one, many) + ", got " +
         std::to_string(got);
}

std::string required_sentence(const Violation& v) {
  std::string out = "missing key " + quoted(v.key);
  if (const Property* property = v.node->properties.find(v.key)) {
    const std::string expected = expected_of(*property->node);
    if (!expected.empty()) out += " (" + expected + ")";
  }
  return out;
}

std::string bare_sentence(const Violation& v) {
  const Node& node = *v.node;
  const Value& value = *v.value;
  const auto length = [&value] { return length_of(value.get_string()); };
  const auto items = [&value] { return value.get_array().size(); };
  const auto members = [&value] { return value.get_object().size(); };
  switch (v.rule) {
    case Rule::kLimit:
      return "nested or combined beyond what can be checked";
    case Rule::kNever:
      return "no value is allowed here";
    case Rule::kType:
      return "expected " + type_names(node.types) + ", got " +
             (value.is_double() && (node.types & kInteger) != 0 ? shown(value) : kind_of(value));
    case Rule::kEnum:
    case Rule::kConst:
      return value_sentence(v);
    case Rule::kMinimum:
      return bound("at least", node.minimum, value);
    case Rule::kMaximum:
      return bound("at most", node.maximum, value);
    case Rule::kAbove:
      return bound("more than", node.above, value);
    case Rule::kBelow:
      return bound("less than", node.below, value);
    case Rule::kMultipleOf:
      return bound("a multiple of", node.multiple_of, value);
    case Rule::kMinLength:
      return size_bound("at least", node.min_length, "character", "characters", length());
    case Rule::kMaxLength:
      return size_bound("at most", node.max_length, "character", "characters", length());
    case Rule::kPattern:
      return "expected text that matches the pattern " + quoted(node.pattern->text()) + ", got " +
             shown(value);
    case Rule::kMinItems:
      return size_bound("at least", node.min_items, "item", "items", items());
    case Rule::kMaxItems:
      return size_bound("at most", node.max_items, "item", "items", items());
    case Rule::kUniqueItems:
      return "items " + std::to_string(v.first) + " and " + std::to_string(v.second) +
             " are equal, and each may occur once";
    case Rule::kContains:
      return "no item has the form that one of them must have";
    case Rule::kRequired:
      return required_sentence(v);
    case Rule::kUnknownKey:
      return unknown_sentence(v);
    case Rule::kPropertyNames:
      return "the key " + quoted(v.key) + " is not allowed: " + v.inner;
    case Rule::kMinProperties:
      return size_bound("at least", node.min_properties, "key", "keys", members());
    case Rule::kMaxProperties:
      return size_bound("at most", node.max_properties, "key", "keys", members());
    case Rule::kAnyOf:
    case Rule::kOneOfNone:
      return value.is_array() || value.is_object()
                 ? "expected " + expected_of(node) + ", got " + kind_of(value)
                 : value_sentence(v);
    case Rule::kOneOfMany:
      return "it has the forms " + std::to_string(v.first + 1) + " and " +
             std::to_string(v.second + 1) + " of those that exclude each other";
    case Rule::kNot:
      return "it has a form that is ruled out";
  }
  return "it does not have the form that the schema asks for";
}

std::string contains_remedy(const Node& node) {
  const std::string expected = node.contains != nullptr ? expected_of(*node.contains) : std::string();
  return "add an item that is " + (expected.empty() ? "of that form" : expected);
}

std::string remedy_of(const Violation& v) {
  switch (v.rule) {
    case Rule::kUnknownKey: {
      const std::string_view near = nearest_name(v.key, known_keys(*v.node));
      // As the sentence has it, so that nobody reads it twice.
      return near.empty() ? "leave it out" : "did you mean " + json::quote(near) + "?";
    }
    case Rule::kRequired:
      return "add " + quoted(v.key);
    case Rule::kLimit:
      return "give a flatter or smaller value";
    case Rule::kUniqueItems:
      return "remove one of the two";
    case Rule::kType:
      return "give " + type_names(v.node->types);
    case Rule::kEnum:
    case Rule::kConst:
    case Rule::kAnyOf:
    case Rule::kOneOfNone:
      return "give " + expected_of(*v.node);
    case Rule::kMinimum:
      return "give at least " + json::print(*v.node->minimum);
    case Rule::kMaximum:
      return "give at most " + json::print(*v.node->maximum);
    case Rule::kAbove:
      return "give more than " + json::print(*v.node->above);
    case Rule::kBelow:
      return "give less than " + json::print(*v.node->below);
    case Rule::kMultipleOf:
      return "give a multiple of " + json::print(*v.node->multiple_of);
    case Rule::kMinLength:
      return "give at least " + count(v.node->min_length, "character", "characters");
    case Rule::kMaxLength:
      return "give at most " + count(v.node->max_length, "character", "characters");
    case Rule::kPattern:
      return "give text that matches " + quoted(v.node->pattern->text());
    case Rule::kMinItems:
      return "give at least " + count(v.node->min_items, "item", "items");
    case Rule::kMaxItems:
      return "give at most " + count(v.node->max_items, "item", "items");
    case Rule::kMinProperties:
      return "give at least " + count(v.node->min_properties, "key", "keys");
    case Rule::kMaxProperties:
      return "give at most " + count(v.node->max_properties, "key", "keys");
    case Rule::kContains:
      return contains_remedy(*v.node);
    case Rule::kPropertyNames:
      return "rename the key " + quoted(v.key) + ", or leave it out";
    case Rule::kOneOfMany:
      return "leave out what belongs to one of the two";
    case Rule::kNever:
      return "leave it out";
    case Rule::kNot:
      return "leave it out, or give a value of another form";
  }
  return "give a value that the schema allows";
}

// The smallest number of edits from a to b (insert, remove, replace, swap of neighbours).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({replaced, last[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string pointer_of(const Violation& v) {
  std::string out;
  for (auto step = v.path.rbegin(); step != v.path.rend(); ++step) {
    out += step->is_key ? pointer_step(step->key) : "/" + std::to_string(step->index);
  }
  return out;
}

}  // namespace

std::string type_names(std::uint8_t types) {
  static constexpr auto kNames =
      std::to_array<std::pair<Type, std::string_view>>({{kObject, "object"},
                                                        {kArray, "array"},
                                                        {kString, "string"},
                                                        {kInteger, "integer"},
                                                        {kNumber, "number"},
                                                        {kBoolean, "boolean"},
                                                        {kNull, "null"}});
  std::vector<std::string> names;
  for (const auto& [type, name] : kNames) {
    if ((types & type) != 0) names.emplace_back(name);
  }
  return joined(names, " or ");
}

std::string pointer_step(std::string_view key) {
  std::string out = "/";
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string_view nearest_name(std::string_view wrong, const std::vector<std::string_view>& names) {
  constexpr std::size_t kLongest = 64;
  if (wrong.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = kNoLimit;
  for (std::string_view name : names) {
    if (name.size() > kLongest) continue;
    const bool part = wrong.size() >= 3 && (name.starts_with(wrong) || wrong.starts_with(name));
    const std::size_t distance = part ? 1 : edits(wrong, name);
    const std::size_t bearable = std::max<std::size_t>(1, std::max(wrong.size(), name.size()) / 3);
    if (distance <= bearable && distance < least) {
      best = name;
      least = distance;
    }
  }
  return best;
}

std::string sentence(const Violation& v) {
  std::string out = bare_sentence(v);
  if (v.forms > 1) out += " (the nearest of " + std::to_string(v.forms) + " allowed forms)";
  return out;
}

Error describe(const Violation& v, std::string_view subject) {
  const std::string place = pointer_of(v);
  std::string field = place;
  std::string text = sentence(v);
  const bool about_key =
      v.rule == Rule::kRequired || v.rule == Rule::kUnknownKey || v.rule == Rule::kPropertyNames;
  if (about_key) field += pointer_step(v.key);
  std::string message;
  if (about_key && place.empty() && subject == "arguments" && v.rule != Rule::kPropertyNames) {
    // The caller's word for a key of the outermost object.
    constexpr std::string_view kKey = " key ";
    message = text.replace(text.find(kKey), kKey.size(), " argument ");
  } else {
    // A subject that is a place itself, "config /isolation/config/bwrap", goes on as one pointer.
    const bool gap = !place.empty() && subject.find('/') == std::string_view::npos;
    message = std::string(subject) + (gap ? " " : "") + place + ": " + text;
  }
  const std::string_view reason = v.rule == Rule::kLimit ? "schema_limit" : "schema";
  return fail(BH_INVALID_ARGUMENT, std::move(message), reason,
              {{"field", field}, {"keyword", keyword_of(v.rule)}, {"remedy", remedy_of(v)}})
      .value();
}

}  // namespace bh::schema
