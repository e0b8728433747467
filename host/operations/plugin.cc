// plugin.list: the load report.
#include "operations/catalogue.h"
#include "operations/rooms.h"

namespace bh {
namespace {

void add_probes(Call& call, HostRooms& rooms, json::object& report) {
  json::value& plugins = report["plugins"];
  if (!plugins.is_array()) return;
  for (json::value& entry : plugins.get_array()) {
    if (!entry.is_object()) continue;
    json::value& provides = entry.get_object()["provides"];
    if (!provides.is_array()) continue;
    for (json::value& offered : provides.get_array()) {
      if (!offered.is_object()) continue;
      json::object& o = offered.get_object();
      if (json::get_string(o, "interface") != BH_ISOLATION) continue;
      auto provider = rooms.registry.find(BH_ISOLATION, json::get_string(o, "id"));
      if (!provider) {
        o["probe"] = {{"status", "unavailable"}, {"message", provider.error().message}};
      } else if ((*provider)->plugin == json::get_string(entry.get_object(), "id")) {
        o["probe"] = rooms.backends.probe(call, **provider);
      }
    }
  }
}

Result<void> list(Call& call, const Arguments& args) {
  HostRooms& rooms = rooms_of(call);
  bool probe = json::get_bool(args.values, "probe");
  if (probe) rooms.registry.load_all();
  json::object report = rooms.registry.report();
  if (probe) add_probes(call, rooms, report);
  return call.set_result(json::print(report));
}

}  // namespace

void add_plugin_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "plugin.list";
  spec.summary =
      "Tells every plugin that was found, what became of it and why, and every place looked at.";
  spec.args_schema =
      R"({"type":"object","properties":{"probe":{"type":"boolean","description":"Load them all, and ask each isolation backend whether it can work here."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"plugins":{"type":"array"},"searched":{"type":"array"}}})";
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));
}

}  // namespace bh
