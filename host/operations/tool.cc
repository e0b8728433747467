// tool.list and tool.call: the tools of all toolsets, and those that the embedder itself offers.
#include "core/coerce.h"
#include "operations/catalogue.h"
#include "base/nearest.h"
#include "operations/rooms.h"
#include "sandbox/backend.h"

namespace bh {
namespace {

Result<void> list(Call& call, const Arguments&) {
  auto tools = rooms_of(call).toolsets.all(call);
  if (!tools) return tl::unexpected(std::move(tools).error());
  std::int64_t count = 0;
  std::set<std::string> own;
  // The embedder's own tools come first and hide others of their name: it knows what it wants.
  for (const auto& server : call.engine().servers_of(call.session(), "tool")) {
    if (!own.insert(server->tool_name).second) continue;
    json::object shown = server->tool;
    shown["plugin"] = "";
    shown["toolset"] = "embedder";
    if (bh_status st = call.item(json::print(shown))) return tl::unexpected(stop_error(st));
    count++;
  }
  for (const auto& tool : **tools) {
    if (own.count(tool->name) != 0) continue;
    if (bh_status st = call.item(tool->definition)) {
      return tl::unexpected(stop_error(st));
    }
    count++;
  }
  json::object result{{"count", count}};
  json::array left_out;
  for (const std::string& why : rooms_of(call).toolsets.left_out()) left_out.emplace_back(why);
  if (!left_out.empty()) result["left_out"] = std::move(left_out);
  return call.set_result(json::print(result));
}

Failure unknown_tool(Call& call, const std::string& name) {
  std::vector<std::string_view> names;
  auto tools = rooms_of(call).toolsets.all(call);
  if (tools) {
    for (const auto& tool : **tools) names.push_back(tool->name);
  }
  std::string message = "there is no tool " + json::quote(name);
  std::string_view near = nearest(name, names);
  if (!near.empty()) message += "; did you mean " + std::string(near) + "?";
  for (const std::string& why : rooms_of(call).toolsets.left_out()) message += "; " + why;
  return fail(BH_NOT_FOUND, message, "unknown_tool",
              {{"tool", name}, {"remedy", "tool.list names those that there are"}});
}

// A tool's result follows abi/schemas/tool_result.json, or the tool is at fault.
Result<void> check_result(const std::string& who, const std::string& text, const Schema* output) {
  auto result = json::parse(text);
  const json::object* o = result && result->is_object() ? &result->get_object() : nullptr;
  const json::array* content = o != nullptr ? json::get_array(*o, "content") : nullptr;
  if (content == nullptr) {
    return fail(BH_INTERNAL, who + " gave a result without \"content\"; that is a fault of the tool",
                "plugin_misuse");
  }
  for (const json::value& part : *content) {
    if (!part.is_object() || json::get_string(part.get_object(), "type").empty()) {
      return fail(BH_INTERNAL, who + " gave a result whose content has a part without \"type\"",
                  "plugin_misuse");
    }
  }
  if (output == nullptr || json::get_bool(*o, "is_error")) return {};
  const json::value* structured = o->if_contains("structured");
  if (structured == nullptr) {
    return fail(BH_INTERNAL, who + " promises a structured result and gave none", "plugin_misuse");
  }
  if (auto ok = output->check(*structured); !ok) {
    return fail(BH_INTERNAL, who + " broke its output_schema: " + ok.error().message,
                "plugin_misuse");
  }
  return {};
}

Result<void> finish(Call& call, const std::string& who, Result<std::string> result,
                    const Schema* output) {
  if (!result) return tl::unexpected(std::move(result).error());
  BH_TRY(check_result(who, *result, output));
  // Half of a surrogate pair, which readers of JSON may refuse, becomes U+FFFD as everywhere.
  if (result->find("\\ud") != std::string::npos || result->find("\\uD") != std::string::npos) {
    auto parsed = json::parse(*result);
    if (parsed) *result = json::print(*parsed);
  }
  return call.set_result(std::move(*result));
}

Result<void> call_embedders(Call& call, const std::shared_ptr<Server>& server,
                            json::value arguments, const std::vector<BlobView>& blobs) {
  if (!blobs.empty() && !server->takes_attachments) {
    // What the embedder does not read is refused, never dropped.
    return fail(BH_INVALID_ARGUMENT,
                "the embedder's tool " + server->tool_name +
                    " takes no attachments; its embedder permits them with \"attachments\": true "
                    "in bh_serve()",
                "schema", {{"field", ""}});
  }
  if (server->tool_coerces) arguments = coerce(std::move(arguments), *server->tool_accepts);
  BH_TRY(server->tool_accepts->check(arguments));
  auto answer = call.engine().ask(call, server, server->tool_name, json::print(arguments), false,
                                   blobs);
  return finish(call, "the embedder's tool " + server->tool_name, std::move(answer),
                server->tool_output.get());
}

Result<void> call_tool(Call& call, const Arguments& args) {
  std::string name(json::get_string(args.values, "name"));
  json::value arguments = json::object();
  if (const json::value* given = args.values.if_contains("arguments")) arguments = *given;
  for (const auto& server : call.engine().servers_of(call.session(), "tool")) {
    if (server->tool_name != name) continue;
    return call_embedders(call, server, std::move(arguments), args.blobs);
  }
  auto found = rooms_of(call).toolsets.find(call, name);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!*found) return unknown_tool(call, name);
  const Tool& tool = **found;
  if (tool.coerces) arguments = coerce(std::move(arguments), *tool.accepts);
  BH_TRY(tool.accepts->check(arguments));

  const Provider& provider = *tool.toolset->provider;
  std::string text = json::print(arguments);
  std::vector<bh_blob> blobs;
  std::vector<const bh_blob*> pointers;
  for (const BlobView& b : args.blobs) {
    bh_blob blob{};
    blob.struct_size = sizeof blob;
    blob.name = {b.name.data(), b.name.size()};
    blob.media_type = {b.media_type.data(), b.media_type.size()};
    blob.data = b.data.data();
    blob.size = b.data.size();
    blobs.push_back(blob);
  }
  for (const bh_blob& b : blobs) pointers.push_back(&b);

  PassSink out(call);
  CallOptions options;
  options.host = tool.toolset->host;
  options.needs = &tool.needs;
  auto result = drive_with(call, options, provider.plugin + ", tool " + name, out, call.input(),
                           [&](bh_call* c) {
                             return provider.toolset().call(
                                 tool.toolset->self, c, name.data(), name.size(), text.data(),
                                 text.size(), pointers.data(), pointers.size());
                           });
  return finish(call, provider.plugin + ", tool " + name, std::move(result), tool.output.get());
}

}  // namespace

void add_tool_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "tool.list";
  spec.summary = "Lists all tools that this session can call.";
  spec.args_schema = R"({"type":"object","properties":{}})";
  spec.result_schema =
      R"({"type":"object","properties":{"count":{"type":"integer"},"left_out":{"type":"array","description":"A sentence for each toolset whose tools are missing, where there are any."}}})";
  spec.output = "items: abi/schemas/tool.json, with plugin and toolset";
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));

  spec = {};
  spec.name = "tool.call";
  spec.summary = "Calls one tool; its arguments are checked against its schema first.";
  spec.args_schema =
      R"({"type":"object","required":["name"],"properties":{"name":{"type":"string"},"arguments":{"type":"object","additionalProperties":true}}})";
  spec.result_schema = R"({"type":"object","description":"abi/schemas/tool_result.json"})";
  spec.input = "what the tool reads; most read nothing";
  spec.output = "what the tool sends: streams, progress, attachments that the result names";
  spec.reasons = {"plugin_misuse", "schema", "unknown_tool"};
  spec.run = call_tool;
  add(std::move(spec));
}

}  // namespace bh
