#include "operations/catalogue.h"

#include <memory>

#include "operations/isolation_profile_text.h"

namespace bh {
namespace {

json::object profile_schema_object() { return json::parse_object(kIsolationProfileText).value(); }

std::unique_ptr<Catalogue> build() {
  auto out = std::make_unique<Catalogue>();
  AddOperation add = [&](OperationSpec spec) { out->add(std::move(spec)); };
  add_exec_operations(add);
  add_files_operations(add);
  add_files_transfer_operations(add);
  add_host_operations(add);
  add_image_operations(add);
  add_interrupt_operations(add);
  add_job_operations(add);
  add_plugin_operations(add);
  add_sandbox_operations(add);
  add_sandbox_file_operations(add);
  add_sandbox_change_operations(add);
  add_sandbox_state_operations(add);
  add_tool_operations(add);
  return out;
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue* const all = build().release();
  return *all;
}

const std::string& wished_profile_schema() {
  static const std::string* const text = [] {
    json::object schema = profile_schema_object();
    json::object& properties = schema["properties"].as_object();
    properties.erase("persona");
    properties.erase("hide");
    schema.erase("$schema");
    return std::make_unique<std::string>(json::print(schema)).release();
  }();
  return *text;
}

const std::string& limits_schema() {
  static const std::string* const text = [] {
    json::object schema = profile_schema_object();
    return std::make_unique<std::string>(
               json::print(schema["properties"].as_object()["limits"]))
        .release();
  }();
  return *text;
}

}  // namespace bh
