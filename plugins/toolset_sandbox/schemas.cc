#include "schemas.h"

#include <set>
#include <utility>

#include "opensandbox.h"

namespace toolset_sandbox {

namespace {

constexpr std::string_view kDefs = "#/$defs/";

json::object object_of(const char* text) { return *json::parse_object(text); }

const OpenSandboxModel* model(std::string_view name) {
  for (const OpenSandboxModel& one : opensandbox_models()) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

void collect(const json::value& v, std::set<std::string>& names) {
  if (const json::array* list = v.if_array()) {
    for (const json::value& one : *list) collect(one, names);
  }
  const json::object* o = v.if_object();
  if (o == nullptr) return;
  for (const auto& member : *o) {
    if (member.key() != "$ref" || !member.value().is_string()) {
      collect(member.value(), names);
      continue;
    }
    const std::string_view ref = json::view(member.value().get_string());
    const std::string name(ref.substr(kDefs.size()));
    if (!names.insert(name).second) continue;
    if (const OpenSandboxModel* found = model(name)) collect(object_of(found->schema), names);
  }
}

json::object whole(const char* text) {
  json::object out = text[0] == '=' ? object_of(model(text + 1)->schema) : object_of(text);
  std::set<std::string> names;
  collect(out, names);
  if (names.empty()) return out;
  json::object defs;
  for (const std::string& name : names) defs[name] = object_of(model(name)->schema);
  out["$defs"] = std::move(defs);
  return out;
}

// The schema that a $ref or the first branch of [X, null] stands for; `nullable` tells of the
// latter.
const json::object* plain(const json::object& schema, const json::object* defs, bool& nullable) {
  if (const json::array* branches = json::list(schema, "anyOf")) {
    nullable = true;
    return plain(branches->at(0).get_object(), defs, nullable);
  }
  const std::string_view ref = json::text(schema, "$ref");
  if (ref.empty()) return &schema;
  return json::child(*defs, ref.substr(kDefs.size()));
}

// Upstream's models go by a second name for some of their fields.
void add_older_names(json::object& properties, json::object& out) {
  if (const json::value* action = properties.if_contains("defaultAction")) {
    properties["default_action"] = json::value(*action);
  }
  if (properties.contains("source") && properties.contains("destination")) {
    properties["src"] = json::object{{"type", "string"}};
    properties["dest"] = json::object{{"type", "string"}};
    out.erase("required");  // which of the names are there is told by the tool
  }
}

json::object lenient(const json::object& schema, const json::object* defs, bool top);

json::value lenient_value(const json::value& v, const json::object* defs, bool top) {
  return lenient(v.get_object(), defs, top);
}

json::object lenient(const json::object& schema, const json::object* defs, bool top) {
  bool nullable = false;
  const json::object* from = plain(schema, defs, nullable);
  json::object out;
  json::array types{json::value(from->at("type"))};
  if (nullable) types.emplace_back("null");
  if (top && json::text(*from, "type") != "string") types.emplace_back("string");
  out["type"] = types.size() == 1 ? types[0] : json::value(types);
  for (const char* key : {"required", "minimum", "maximum", "exclusiveMinimum"}) {
    if (const json::value* v = from->if_contains(key)) out[key] = *v;
  }
  if (const json::value* values = from->if_contains("enum")) {
    json::array listed = values->get_array();
    if (nullable) listed.emplace_back(nullptr);
    out["enum"] = std::move(listed);
  }
  if (const json::value* items = from->if_contains("items")) {
    out["items"] = lenient_value(*items, defs, false);
  }
  if (const json::value* more = from->if_contains("additionalProperties")) {
    out["additionalProperties"] = *more;
  }
  if (const json::object* properties = json::child(*from, "properties")) {
    json::object under;
    for (const auto& member : *properties) {
      under[member.key()] = lenient_value(member.value(), defs, false);
    }
    add_older_names(under, out);
    out["properties"] = std::move(under);
    out["additionalProperties"] = false;
  }
  return out;
}

}  // namespace

ToolSchemas opensandbox_schemas(std::string_view tool) {
  for (const OpenSandboxTool& one : opensandbox_tools()) {
    if (tool == one.name) return {whole(one.input), whole(one.output)};
  }
  return {};
}

json::object accepted(const json::object& input) {
  json::object out{{"type", "object"}, {"additionalProperties", false}};
  if (const json::value* required = input.if_contains("required")) out["required"] = *required;
  json::object properties;
  const json::object* defs = json::child(input, "$defs");
  for (const auto& member : input.at("properties").get_object()) {
    properties[member.key()] = lenient_value(member.value(), defs, true);
  }
  out["properties"] = std::move(properties);
  return out;
}

std::vector<KeyOfType> keys_that_are_no_text(const json::object& input) {
  std::vector<KeyOfType> out;
  const json::object* defs = json::child(input, "$defs");
  for (const auto& member : input.at("properties").get_object()) {
    bool nullable = false;
    const json::object* schema = plain(member.value().get_object(), defs, nullable);
    const std::string_view type = json::text(*schema, "type");
    if (type != "string") out.push_back({std::string(member.key()), std::string(type)});
  }
  return out;
}

}  // namespace toolset_sandbox
