// From the published schemas to what a tool's definition needs: whole documents with their $defs,
// and the lenient form that arguments are checked against.
#pragma once

#include <bulkhead/sdk/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace toolset_sandbox {

namespace json = bulkhead::sdk::json;

struct ToolSchemas {
  json::object input;
  json::object output;
};

// Of one of the 19; the name is one of them.
ToolSchemas opensandbox_schemas(std::string_view tool);

// What is accepted in place of `input`: objects, lists, numbers and booleans also as their JSON
// text, absent things as null where `input` says so, the older names default_action, src and dest;
// keys that nobody knows are refused by name at every level.
json::object accepted(const json::object& input);

struct KeyOfType {
  std::string key;
  std::string type;  // in JSON Schema's words
};

// The keys of `input` that are no texts: one that still is a text after decoding is refused.
std::vector<KeyOfType> keys_that_are_no_text(const json::object& input);

}  // namespace toolset_sandbox
