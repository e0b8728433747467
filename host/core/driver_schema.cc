#include "core/driver_schema.h"

#include <utility>

#include "base/json.h"
#include "core/schema_node.h"

namespace bh {

namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using schema::Node;

Failure not_plain(const Node& node, std::string_view keyword, std::string_view remedy) {
  const std::string field = node.pointer + (keyword.empty() ? "" : "/" + std::string(keyword));
  std::string message = "schema" + (node.pointer.empty() ? "" : " " + node.pointer) + ": ";
  message += keyword.empty() ? std::string("a driver's schema must list keys")
                             : json::quote(keyword) + " does not list keys plainly";
  message += "; " + std::string(remedy);
  return fail(BH_INVALID_ARGUMENT, std::move(message), "schema_unsupported",
              {{"field", field}, {"keyword", keyword}, {"remedy", remedy}});
}

// The schema `true`, or one that says nothing.
bool takes_everything(const Node& node) {
  return !node.never && node.types == 0 && node.allowed.empty() && !node.lists_properties;
}

Result<void> require_plain(const Node& node) {
  const std::pair<bool, std::string_view> forms[] = {
      {node.ref != nullptr, "$ref"},
      {!node.all_of.empty(), "allOf"},
      {!node.any_of.empty(), "anyOf"},
      {!node.one_of.empty(), "oneOf"},
      {node.not_ != nullptr, "not"},
      {node.if_ != nullptr, "if"},
      {node.contains != nullptr, "contains"},
      {node.property_names != nullptr, "propertyNames"},
      {!node.pattern_properties.empty(), "patternProperties"}};
  for (const auto& [used, keyword] : forms) {
    if (used) return not_plain(node, keyword, "write the keys under \"properties\"");
  }
  if (node.additional != nullptr && takes_everything(*node.additional)) {
    return not_plain(node, "additionalProperties",
                     "it would claim keys that do not exist yet: give their type, or false");
  }
  return {};
}

// Every rule within a part that is taken out.
void name_rules(const value& v, const std::string& name, std::vector<std::string>& names);

std::string entry_name(const std::string& list, const value& entry, std::size_t index) {
  if (const auto* o = entry.if_object()) {
    const std::string_view path = json::get_string(*o, "path");
    if (!path.empty()) return list + ":" + std::string(path);
  }
  return list + ":" + std::to_string(index);
}

std::string member_name(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
}

bool holds_objects(const array& list) {
  for (const value& entry : list) {
    if (entry.is_object()) return true;
  }
  return false;
}

void name_rules(const value& v, const std::string& name, std::vector<std::string>& names) {
  if (const auto* o = v.if_object(); o != nullptr && !o->empty()) {
    for (const auto& member : *o)
      name_rules(member.value(), member_name(name, member.key()), names);
    return;
  }
  if (const auto* list = v.if_array(); list != nullptr && holds_objects(*list)) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      names.push_back(entry_name(name, (*list)[i], i));
    }
    return;
  }
  names.push_back(name);
}

// Keeps what `node` lists of `v` and names the rest.
value keep(const Node& node, const value& v, const std::string& name,
           std::vector<std::string>& names);

value keep_object(const Node& node, const object& from, const std::string& name,
                  std::vector<std::string>& names) {
  object kept;
  for (const auto& member : from) {
    const std::string rule = member_name(name, member.key());
    const schema::Property* property = node.properties.find(member.key());
    const Node* below = property != nullptr ? property->node : node.additional;
    if (below == nullptr || below->never) {
      name_rules(member.value(), rule, names);
      continue;
    }
    value part = keep(*below, member.value(), rule, names);
    // A group of which nothing is left would read as "nothing asked for".
    const bool emptied =
        part.is_object() && part.get_object().empty() && !member.value().get_object().empty();
    if (!emptied) kept.emplace(member.key(), std::move(part));
  }
  return kept;
}

value keep_array(const Node& node, const array& from, const std::string& name,
                 std::vector<std::string>& names) {
  static const Node kNothing;
  const Node& below = node.items != nullptr ? *node.items : kNothing;
  array kept;
  for (std::size_t i = 0; i < from.size(); ++i) {
    // Half an entry is another rule than the one that was asked for.
    std::vector<std::string> missing;
    value part = keep(below, from[i], name, missing);
    if (missing.empty())
      kept.push_back(std::move(part));
    else
      names.push_back(entry_name(name, from[i], i));
  }
  return kept;
}

value keep(const Node& node, const value& v, const std::string& name,
           std::vector<std::string>& names) {
  if (const auto* o = v.if_object()) return keep_object(node, *o, name, names);
  if (const auto* list = v.if_array()) return keep_array(node, *list, name, names);
  return v;
}

}  // namespace

Result<DriverSchema> DriverSchema::compile(std::string_view json_text, std::string_view subject) {
  auto parsed = json::parse(json_text);
  if (!parsed) return tl::unexpected(parsed.error().within("schema"));
  return compile_parsed(*parsed, subject);
}

Result<DriverSchema> DriverSchema::compile_parsed(const value& parsed, std::string_view subject) {
  auto compiled = Schema::compile_parsed(parsed, {.closed = false, .subject = subject});
  if (!compiled) return tl::unexpected(std::move(compiled).error());
  const schema::Program& program = (*compiled)->program();
  for (const Node& node : program.nodes) BH_TRY(require_plain(node));
  if (!program.root->lists_properties) {
    return not_plain(*program.root, "", "give \"properties\"");
  }
  return DriverSchema(std::move(*compiled));
}

DriverSchema::Split DriverSchema::split(const value& v) const {
  Split out;
  out.kept = keep(*schema_->program().root, v, "", out.unlisted);
  return out;
}

}  // namespace bh
