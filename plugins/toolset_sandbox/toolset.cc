// Which tools are offered, and what is done for all of them before and after.
#include <cmath>

#include "schemas.h"
#include "tools.h"

namespace toolset_sandbox {

namespace {

json::object parsed(const char* text) { return *json::parse_object(text); }

void with_language(json::object& input) {
  input["properties"].get_object()["language"] = json::value(
      {{"type", "string"},
       {"enum", {"python", "javascript", "bash"}},
       {"description", "Takes the place of image: a sandbox that has this language."}});
  input.erase("required");  // one of the two, which the tool sees to
}

void with_extras(json::object& input) {
  json::object& properties = input["properties"].get_object();
  properties["timeout_seconds"] = json::value(
      {{"anyOf", {{{"type", "number"}}, {{"type", "null"}}}},
       {"default", nullptr},
       {"description", "Ends this command after that time."}});
  properties["env"] = json::value(
      {{"anyOf",
        {{{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}, {{"type", "null"}}}},
       {"default", nullptr},
       {"description", "Environment of this command."}});
}

}  // namespace

SandboxTools::SandboxTools(const sdk::Opening& how) {
  if (auto config = json::parse_object(how.config())) {
    shared_.options.aliases = json::boolean(*config, "aliases");
    shared_.options.extras = json::boolean(*config, "extras");
    shared_.options.reset_workspace = json::boolean(*config, "reset_workspace");
  }
  for (const ToolRow& row : opensandbox_rows()) {
    ToolSchemas schemas = opensandbox_schemas(row.name);
    const std::string_view name = row.name;
    if (shared_.options.aliases && name == "sandbox_create") with_language(schemas.input);
    if (shared_.options.extras && name == "command_run") with_extras(schemas.input);
    add_row(row, schemas.input, accepted(schemas.input), schemas.output);
  }
  const auto own = [&](const std::vector<OwnToolRow>& rows) {
    for (const OwnToolRow& one : rows) {
      const json::object input = parsed(one.input);
      add_row(one.row, input, one.accepts != nullptr ? parsed(one.accepts) : accepted(input),
              parsed(one.output));
    }
  };
  if (shared_.options.aliases) own(alias_rows());
  if (shared_.options.extras) own(extra_rows());
}

void SandboxTools::add_row(const ToolRow& row, const json::object& input,
                           const json::object& accepts, const json::object& output) {
  sdk::Tool tool(row.name);
  tool.title(row.title)
      .description(row.description)
      .input_schema(json::print(input))
      .accepts_schema(json::print(accepts))
      .output_schema(json::print(output))
      .read_only(row.effect == Effect::reads)
      .destructive(row.effect == Effect::changes);
  for (const char* need : row.needs) tool.needs(need);
  add(std::move(tool),
      [this, handler = row.handler, not_text = keys_that_are_no_text(input)](
          sdk::Call& call, std::string_view text,
          sdk::Blobs blobs) -> sdk::Result<sdk::ToolResult> {
        auto args = json::parse_object(text);
        if (!args) return std::move(args).failure();
        for (const auto& [key, type] : not_text) {
          const json::value* v = args->if_contains(key);
          if (v != nullptr && v->is_string()) {
            return wrong(key + ": expected " + type + ", got a text that is no JSON of that", "/" + key,
                         "give the " + type + " itself, or its JSON text");
          }
        }
        Request request{call, *std::move(args), blobs, shared_};
        return handler(request);
      });
}

sdk::Result<json::object> operate(sdk::Call& call, std::string_view operation,
                                  const json::object& args) {
  auto result = sdk::Operation(std::string(operation)).args(json::print(args)).run(call);
  if (!result) return std::move(result).failure();
  return json::parse_object(*result);
}

sdk::Failure wrong(std::string message, std::string_view field, std::string_view remedy) {
  return sdk::failure(BH_INVALID_ARGUMENT, std::move(message), "schema", field, remedy);
}

sdk::Result<int64_t> milliseconds(const json::object& args, std::string_view key,
                                  double otherwise) {
  constexpr double kMost = 100.0 * 366 * 24 * 3600;
  const double seconds = json::number(args, key, otherwise);
  if (!(seconds > 0) || seconds > kMost) {
    return wrong(std::string(key) + " is a number of seconds: more than 0, at most 100 years",
                 "/" + std::string(key), "600 is ten minutes");
  }
  return static_cast<int64_t>(std::ceil(seconds * 1000));
}

}  // namespace toolset_sandbox
